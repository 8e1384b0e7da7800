package reason

// FieldError says what is wrong with a field of what a caller sent. Several are joined by errors.Join.
type FieldError struct {
	// Field is the path of the field in what was sent, such as "tokens.access"; for a setting its key.
	Field string
	// Where is the place that the field was read from, such as a file with its line; empty for what a caller sent.
	Where string
	What  Reason
}

// At is what is wrong with a field.
func At(field string, what error) *FieldError { return &FieldError{Field: field, What: Of(what)} }

// Error is "where: field: what".
func (e *FieldError) Error() string {
	text := e.Field + ": " + e.What.Text
	if e.Where != "" {
		text = e.Where + ": " + text
	}
	return text
}

// Reason is what is wrong.
func (e *FieldError) Reason() Reason { return e.What }

// Unwrap is what is wrong.
func (e *FieldError) Unwrap() error { return e.What }
