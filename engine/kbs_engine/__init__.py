"""The ground: records, ports, and every decision. Knows no file format, GPU or terminal."""
