"""Charts as SVG text: no dependency, valid as separate files and inside an HTML page."""
