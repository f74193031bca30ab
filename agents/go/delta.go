package flamewatch

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"slices"
	"time"
)

// Fields of pprof's Profile message.
const (
	profileSampleType  = 1
	profileSample      = 2
	profileMapping     = 3
	profileLocation    = 4
	profileFunction    = 5
	profileStringTable = 6
	profileTime        = 9
	profileDuration    = 10
	profilePeriodType  = 11
	profilePeriod      = 12
	profileDefaultType = 14
)

// dump is a decoded pprof profile of this process; everything but its samples stays encoded.
type dump struct {
	types   [][]byte // encoded ValueType messages
	names   []uint64 // string table index of the name of each type
	samples []dumpSample
	address map[uint64]uint64 // of locations, by id
	strings []string
	rest    []byte // mappings, locations, functions, string table and period
}

type dumpSample struct {
	locations []uint64
	values    []uint64
	labels    []byte // encoded
}

// delta returns the growth of a profile between two dumps, gzipped, with only those values whose
// sample types are named; nil for all.
func delta(before, after []byte, values []string, start time.Time, lasted time.Duration) ([]byte, error) {
	first, err := readDump(before)
	if err != nil {
		return nil, err
	}
	second, err := readDump(after)
	if err != nil {
		return nil, err
	}
	former := map[string][]uint64{}
	for _, sample := range first.samples {
		key := first.key(sample)
		former[key] = added(former[key], sample.values)
	}
	columns := second.columns(values)
	var profile []byte
	for _, column := range columns {
		profile = appendBytes(profile, profileSampleType, second.types[column])
	}
	for _, sample := range second.samples {
		key := second.key(sample)
		grown := subtracted(sample.values, former[key], columns)
		delete(former, key) // a second sample of the same stack adds to the first
		if slices.ContainsFunc(grown, func(value uint64) bool { return value != 0 }) {
			message := appendPacked(nil, 1, sample.locations)
			message = appendPacked(message, 2, grown)
			profile = appendBytes(profile, profileSample, append(message, sample.labels...))
		}
	}
	profile = append(profile, second.rest...)
	profile = appendVarint(profile, profileTime, uint64(start.UnixNano()))
	profile = appendVarint(profile, profileDuration, uint64(lasted))
	return gzipped(profile)
}

func readDump(profile []byte) (*dump, error) {
	d := &dump{address: map[uint64]uint64{}}
	err := fields(profile, func(found field) error {
		switch found.number {
		case profileSampleType:
			return d.addType(found.bytes)
		case profileSample:
			return d.addSample(found.bytes)
		case profileLocation:
			d.rest = append(d.rest, found.raw...)
			return d.addLocation(found.bytes)
		case profileStringTable:
			d.strings = append(d.strings, string(found.bytes))
			d.rest = append(d.rest, found.raw...)
		case profileMapping, profileFunction, profilePeriodType, profilePeriod:
			d.rest = append(d.rest, found.raw...)
		case profileDefaultType, profileTime, profileDuration:
		}
		return nil
	})
	return d, err
}

func (d *dump) addType(message []byte) error {
	name := uint64(0)
	err := fields(message, func(found field) error {
		if found.number == 1 {
			name = found.value
		}
		return nil
	})
	d.types, d.names = append(d.types, message), append(d.names, name)
	return err
}

func (d *dump) addSample(message []byte) error {
	var sample dumpSample
	err := fields(message, func(found field) (err error) {
		switch found.number {
		case 1:
			sample.locations, err = numbers(sample.locations, found)
		case 2:
			sample.values, err = numbers(sample.values, found)
		case 3:
			// Labels of memory profiles are sizes of blocks, which belong to the stack.
			sample.labels = append(sample.labels, found.raw...)
		}
		return err
	})
	d.samples = append(d.samples, sample)
	return err
}

func (d *dump) addLocation(message []byte) error {
	var id, address uint64
	err := fields(message, func(found field) error {
		switch found.number {
		case 1:
			id = found.value
		case 3:
			address = found.value
		}
		return nil
	})
	d.address[id] = address
	return err
}

// key identifies a stack in all dumps of this process: location ids differ, addresses do not.
func (d *dump) key(sample dumpSample) string {
	var key []byte
	for _, location := range sample.locations {
		key = binary.LittleEndian.AppendUint64(key, d.address[location])
	}
	return string(append(key, sample.labels...))
}

func (d *dump) columns(names []string) []int {
	var columns []int
	for column, name := range d.names {
		known := name < uint64(len(d.strings))
		if names == nil || known && slices.Contains(names, d.strings[name]) {
			columns = append(columns, column)
		}
	}
	return columns
}

func added(sums, values []uint64) []uint64 {
	if sums == nil {
		return slices.Clone(values)
	}
	for i := range min(len(sums), len(values)) {
		sums[i] += values[i]
	}
	return sums
}

// subtracted returns the growth of the columns; a value that fell has not grown.
func subtracted(values, former []uint64, columns []int) []uint64 {
	grown := make([]uint64, 0, len(columns))
	for _, column := range columns {
		value, before := int64(0), int64(0)
		if column < len(values) {
			value = int64(values[column])
		}
		if column < len(former) {
			before = int64(former[column])
		}
		grown = append(grown, uint64(max(0, value-before)))
	}
	return grown
}

func gunzip(compressed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return io.ReadAll(reader)
}

func gzipped(profile []byte) ([]byte, error) {
	var buffer bytes.Buffer
	writer, err := gzip.NewWriterLevel(&buffer, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(profile); err != nil {
		return nil, err
	}
	err = writer.Close()
	return buffer.Bytes(), err
}
