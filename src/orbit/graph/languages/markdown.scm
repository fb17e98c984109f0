; Markdown, the grammar of blocks. Roles and heads: language.py. What stands inside lines (links, references) the fix-up reads.
(atx_heading (atx_h1_marker) heading_content: (inline)? @name) @define.section.h1
(atx_heading (atx_h2_marker) heading_content: (inline)? @name) @define.section.h2
(atx_heading (atx_h3_marker) heading_content: (inline)? @name) @define.section.h3
(atx_heading (atx_h4_marker) heading_content: (inline)? @name) @define.section.h4
(atx_heading (atx_h5_marker) heading_content: (inline)? @name) @define.section.h5
(atx_heading (atx_h6_marker) heading_content: (inline)? @name) @define.section.h6
(setext_heading heading_content: (paragraph) @name (setext_h1_underline)) @define.section.h1
(setext_heading heading_content: (paragraph) @name (setext_h2_underline)) @define.section.h2

; --- headings inside these start no section
(block_quote) @mark.quote
(list) @mark.quote

; --- text in which nothing is a link; the bodies of fenced code are strings
(code_fence_content) @mark.code.body
(info_string) @mark.code
(indented_code_block) @mark.code
(html_block) @mark.code
(minus_metadata) @mark.code
(plus_metadata) @mark.code
