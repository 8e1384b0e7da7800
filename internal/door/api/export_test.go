package api

import "github.com/danielgtaylor/huma/v2"

// Document is the OpenAPI document of an API.
func Document(c Config, resources ...Resource) *huma.OpenAPI { return document(c, resources...) }

// NewReference is the document as people read it.
var NewReference = newReference

// WriteWatches writes what is known of what an account has watched.
var WriteWatches = Watches.write
