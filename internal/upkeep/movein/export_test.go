package movein

// ParseForTest reads an ini file and answers its values, expanded, by section and option.
func ParseForTest(text []byte) (map[string]map[string]string, error) {
	file, err := parseINI(text)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]string{}
	for section, options := range file.sections {
		all[section] = map[string]string{}
		for option := range options {
			all[section][option] = file.get(section, option)
		}
	}
	return all, nil
}

// OwnersForTest are the accounts of media-server users.
var OwnersForTest = ownersOf

// OpenForTest opens an encrypted value.
func OpenForTest(master, stored string) (string, error) { return vault{master}.open(stored) }
