package mediaserver

// fnos is the media service of fnOS, which refuses a token that does not come in the old header.
var fnos = trait{bare: true, product: "fnOS", header: oldHeader, fields: emby.fields, dated: emby.dated, layout: emby.layout}
