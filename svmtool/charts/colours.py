"""Colours of all charts and pictures."""

INK, GREY, FAINT, GRID = "#1f2933", "#5f6c7b", "#b8c2cc", "#e4e8ec"
BLUE, ORANGE, GREEN, RED = "#1f6fb2", "#d0661b", "#2a8a57", "#b3323e"
