package reason

// Reasons that are made of others.
var (
	// Several are reasons in a row.
	Several = New("several", "{reasons}", "{reasons}").
		Was("fetch_sources", "sources").Was("tracker_several", "problems").Was("fits").Was("import_line_fields", "problems")
	// Because is what was done, or what something is about, and what happened.
	Because = New("because", "{what}: {cause}", "{what}：{cause}").
		Was("fetch_source", "source", "cause").Was("dump_member", "member", "what").Was("dump_because").
		Was("catalog_failed_because", "failure", "detail").Was("tracker_of_user", "name", "problem").
		Was("dataset_format_because", "format", "cause")
	// WithDetail is a problem with what others said about it.
	WithDetail = New("with_detail", "{problem} ({detail})", "{problem}（{detail}）").
			Was("http_detail").Was("llm_detail").Was("channel_with_detail")
)
