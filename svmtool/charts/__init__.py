"""Charts as SVG text: no dependency, readable in a file of their own and inside an HTML page."""
