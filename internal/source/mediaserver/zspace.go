package mediaserver

// zspace is the media service of ZSpace's NAS, under /emby.
var zspace = trait{product: "ZSpace", header: oldHeader, fields: emby.fields, dated: emby.dated, layout: emby.layout}
