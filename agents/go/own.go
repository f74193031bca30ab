package flamewatch

import "strings"

const (
	// Goroutines whose stacks have these methods are the agent's own.
	ownMethods = "flamewatch.dev/agent.(*Agent)."
	stopMethod = ownMethods + "Stop"
)

func isOwn(function string) bool {
	return strings.HasPrefix(function, ownMethods) && function != stopMethod
}

// withoutOwn returns an uncompressed pprof profile without the samples of the agent's own
// goroutines.
func withoutOwn(profile []byte) ([]byte, error) {
	own, err := ownLocations(profile)
	if err != nil {
		return nil, err
	}
	kept := make([]byte, 0, len(profile))
	err = fields(profile, func(found field) error {
		if found.number == profileSample {
			locations, err := locationsOf(found.bytes)
			if err != nil {
				return err
			}
			for _, location := range locations {
				if own[location] {
					return nil
				}
			}
		}
		kept = append(kept, found.raw...)
		return nil
	})
	return kept, err
}

// ownLocations returns the ids of locations whose functions are the agent's own.
func ownLocations(profile []byte) (map[uint64]bool, error) {
	var texts []string
	nameOf := map[uint64]uint64{}        // string table index of the name of each function
	functionsAt := map[uint64][]uint64{} // functions of each location
	err := fields(profile, func(found field) error {
		switch found.number {
		case profileStringTable:
			texts = append(texts, string(found.bytes))
		case profileFunction:
			var id, name uint64
			err := fields(found.bytes, func(part field) error {
				switch part.number {
				case 1:
					id = part.value
				case 2:
					name = part.value
				}
				return nil
			})
			nameOf[id] = name
			return err
		case profileLocation:
			id, functions, err := functionsOf(found.bytes)
			functionsAt[id] = functions
			return err
		}
		return nil
	})
	own := map[uint64]bool{}
	for location, functions := range functionsAt {
		for _, function := range functions {
			if name := nameOf[function]; name < uint64(len(texts)) && isOwn(texts[name]) {
				own[location] = true
			}
		}
	}
	return own, err
}

func locationsOf(sample []byte) (locations []uint64, err error) {
	err = fields(sample, func(part field) (err error) {
		if part.number == 1 {
			locations, err = numbers(locations, part)
		}
		return err
	})
	return locations, err
}

func functionsOf(location []byte) (id uint64, functions []uint64, err error) {
	err = fields(location, func(part field) error {
		switch part.number {
		case 1:
			id = part.value
		case 4:
			return fields(part.bytes, func(line field) error {
				if line.number == 1 {
					functions = append(functions, line.value)
				}
				return nil
			})
		}
		return nil
	})
	return id, functions, err
}
