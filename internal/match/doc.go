// Package match finds the subject and the episode of the catalog that an event is about, and records how it found
// them. Below it: the rules that people made (mapping) and the table of other services' IDs (idmap).
//
// Layers propose and one place decides: each layer is a file with one idea, the score of a proposal is made of named
// parts, and decide alone turns scores into a result. It promises that a match which is not certain goes to a person:
// a wrong mark is worse than no mark.
//
// It uses platform, watch and catalog. Begin with matcher.go and layers.go.
package match
