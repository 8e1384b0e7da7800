package record

// Where is the condition that Watched reads a span by.
func (s Span) Where() (string, []any) { return s.where() }
