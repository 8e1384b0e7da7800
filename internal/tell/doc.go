// Package tell holds what tells people: notices, rules and channels (notify), summaries of what was watched (summary)
// and the language model that may write them (llm).
//
// It promises that a notice is stored in the transaction of the event it is about, and is sent at least once to each
// channel that a rule names. It uses platform, watch, catalog and record. Begin with notify/notice.go.
package tell
