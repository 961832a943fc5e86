"""Code and output -> lines under each other or side by side, as text or HTML."""

from . import View
from .file_listing import render_files_html, render_files_text
from .side_by_side_table import render_pairs_html, render_pairs_text
from .transcript_page import render_transcript_html, render_transcript_text

side_by_side = View(render_pairs_text, render_pairs_html)
files = View(render_files_text, render_files_html)
transcript = View(render_transcript_text, render_transcript_html)
