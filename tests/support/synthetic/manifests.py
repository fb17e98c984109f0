"""Manifests and ignore files of a generated repository, each in several wordings that mean different things. An empty one means: no such file."""

from __future__ import annotations

MANIFESTS: dict[str, tuple[str, ...]] = {
    "py/pyproject.toml": (
        '[project]\nname = "app"\n',
        "",
        '[project]\nname = "other"\n[tool.setuptools.packages.find]\nwhere = ["src"]\n',
        '[project]\nname = "app"\n[tool.setuptools]\npackage-dir = {"" = "src/app"}\n',
        "[broken\n",
    ),
    "go/go.mod": ("module example.org/app\n\ngo 1.22\n", "module example.org/other\n", ""),
    "go/core/go.mod": ("", "module example.org/app/core\n", "module example.org/kernel\n"),
    "rust/Cargo.toml": (
        '[package]\nname = "acme"\n[workspace]\nmembers = ["extra"]\n[dependencies]\nacme-extra = { path = "extra" }\n',
        '[package]\nname = "acme-two"\n',
        '[package]\nname = "acme"\n[dependencies]\nacme_extra = { package = "acme-renamed", path = "extra" }\n',
        "",
    ),
    "rust/extra/Cargo.toml": ('[package]\nname = "acme-extra"\n', '[package]\nname = "acme-renamed"\n[lib]\npath = "src/other.rs"\n', ""),
    "web/package.json": ('{"name": "@acme/web", "workspaces": ["core"]}\n', '{"name": "web"}\n', ""),
    "web/core/package.json": (
        '{"name": "@acme/core", "exports": {".": "./index.ts", "./*": "./*.ts"}}\n',
        '{"name": "@acme/kernel"}\n',
        '{"name": "@acme/core", "main": "alpha.ts"}\n',
        "",
    ),
    "web/tsconfig.json": (
        '{"compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["./*"]}}}\n',
        '{"extends": "./tsconfig.base.json"}\n',
        '{"compilerOptions": {"paths": {"@app/*": ["./core/*", "./tools/*"]}}}\n',
        "",
    ),
    "web/tsconfig.base.json": ('{"compilerOptions": {"baseUrl": "./core"}}\n', '{"compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["./*"]}}}\n'),
    ".orbitignore": ("", "py/src/app/core/\n", "*.js\n!web/core/*.js\n", "beta.*\n", "web/tsconfig.json\nrust/Cargo.toml\n"),
    "web/.orbitignore": ("", "/tools\n", "store.ts\n"),
    ".gitignore": ("", "gamma.*\n", "tools/\n"),
    "settings.yaml": ("service:\n  port: 80\n  host: here\n", "service:\n  port: 81\n", ""),
    "README.md": ("# Title\n\n## Install\n\nRun `load`.\n", "# Title\n\n## Usage\n\n### Install\n", ""),
    "cli.py": (
        "import click\nfrom app.core.alpha import load\n\n@click.group()\ndef top():\n    pass\n\n@top.command()\ndef go():\n    load()\n",
        "import click\n\n@click.group(name='tip')\ndef top():\n    pass\n\n@top.command('gone')\ndef go():\n    pass\n",
        "import click\nimport more\n\n@click.group()\ndef top():\n    pass\n\ntop.add_command(more.extra)\n",
        "import click\nfrom more import extra as top\n\n@top.command()\ndef go():\n    pass\n",
        "",
    ),
    "more.py": (
        "import click\n\n@click.group()\ndef extra():\n    pass\n\n@extra.command()\ndef inside():\n    pass\n",
        "import typer\nfrom cli import top\n\nextra = typer.Typer(name='more')\nextra.add_typer(top, name='under')\n",
        "",
    ),
}
