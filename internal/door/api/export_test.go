package api

import "github.com/danielgtaylor/huma/v2"

// Document is the OpenAPI document of an API over deps.
func Document(deps Deps) *huma.OpenAPI { return document(deps) }
