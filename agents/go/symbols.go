package flamewatch

import "runtime"

const cutStack = "[stack deeper than 32 frames]"

// symbols numbers the strings, functions and locations of a pprof profile.
type symbols struct {
	texts       map[string]uint64
	textTable   []byte
	functions   map[[2]string]uint64
	byAddress   map[uintptr]uint64
	encoded     []byte // locations and functions
	ownLocation map[uint64]bool
}

func newSymbols() *symbols {
	table := &symbols{
		texts:       map[string]uint64{},
		functions:   map[[2]string]uint64{},
		byAddress:   map[uintptr]uint64{},
		ownLocation: map[uint64]bool{},
	}
	table.text("")
	return table
}

func (s *symbols) text(text string) uint64 {
	number, found := s.texts[text]
	if !found {
		number = uint64(len(s.texts))
		s.texts[text] = number
		s.textTable = appendBytes(s.textTable, profileStringTable, []byte(text))
	}
	return number
}

// locations returns the ids of a stack, leaf first, and whether it is one of the agent's own.
func (s *symbols) locations(stack []uintptr) (ids []uint64, isOwn bool) {
	for _, pc := range stack {
		if pc == 0 {
			break
		}
		id, found := s.byAddress[pc]
		if !found {
			id = s.add(pc)
		}
		ids = append(ids, id)
		isOwn = isOwn || s.ownLocation[id]
	}
	if len(ids) == len(stack) {
		ids = append(ids, s.cut())
	}
	return ids, isOwn
}

// cut returns the location of the frame that marks the cut at the root of a deep stack.
func (s *symbols) cut() uint64 {
	id, found := s.byAddress[0]
	if !found {
		id = uint64(len(s.byAddress) + 1)
		s.byAddress[0] = id
		line := appendVarint(nil, 1, s.function(cutStack, ""))
		message := appendBytes(appendVarint(nil, 1, id), 4, line)
		s.encoded = appendBytes(s.encoded, profileLocation, message)
	}
	return id
}

// add encodes the location of a return address, with the functions that are inlined there.
func (s *symbols) add(pc uintptr) uint64 {
	id := uint64(len(s.byAddress) + 1)
	s.byAddress[pc] = id
	message := appendVarint(nil, 1, id)
	message = appendVarint(message, 3, uint64(pc))
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		frame, more := frames.Next()
		if frame.Function != "" {
			line := appendVarint(nil, 1, s.function(frame.Function, frame.File))
			message = appendBytes(message, 4, appendVarint(line, 2, uint64(max(0, frame.Line))))
			if isOwn(frame.Function) {
				s.ownLocation[id] = true
			}
		}
		if !more {
			break
		}
	}
	s.encoded = appendBytes(s.encoded, profileLocation, message)
	return id
}

func (s *symbols) function(name, file string) uint64 {
	key := [2]string{name, file}
	id, found := s.functions[key]
	if !found {
		id = uint64(len(s.functions) + 1)
		s.functions[key] = id
		message := appendVarint(nil, 1, id)
		message = appendVarint(message, 2, s.text(name))
		message = appendVarint(message, 3, s.text(name))
		message = appendVarint(message, 4, s.text(file))
		s.encoded = appendBytes(s.encoded, profileFunction, message)
	}
	return id
}

func (s *symbols) appendTo(profile []byte) []byte {
	return append(append(profile, s.encoded...), s.textTable...)
}
