"""What bench/compare is made of. Pure: figures, tables, asked, document. The others build, start and measure."""
