package flamewatch

import (
	"encoding/binary"
	"errors"
)

// Wire types of protocol buffers.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
)

var errTruncated = errors.New("truncated protocol buffer")

// field is one field of a message: a number, or bytes.
type field struct {
	number int
	kind   int
	value  uint64
	bytes  []byte
	raw    []byte // the whole field as encoded
}

// fields calls `each` for every field of a message, until it returns an error.
func fields(message []byte, each func(field) error) error {
	for len(message) > 0 {
		whole := message
		tag, size := binary.Uvarint(message)
		if size <= 0 {
			return errTruncated
		}
		message = message[size:]
		found := field{number: int(tag >> 3), kind: int(tag & 7)}
		switch found.kind {
		case varintType:
			found.value, size = binary.Uvarint(message)
		case fixed64Type:
			size = 8
		case fixed32Type:
			size = 4
		case bytesType:
			length, prefix := binary.Uvarint(message)
			if prefix <= 0 || length > uint64(len(message)-prefix) {
				return errTruncated
			}
			size = prefix + int(length)
			found.bytes = message[prefix:size]
		default:
			return errors.New("unknown wire type in a protocol buffer")
		}
		if size <= 0 || size > len(message) {
			return errTruncated
		}
		message = message[size:]
		found.raw = whole[:len(whole)-len(message)]
		if err := each(found); err != nil {
			return err
		}
	}
	return nil
}

// numbers returns the values of a repeated varint field, packed or not.
func numbers(before []uint64, found field) ([]uint64, error) {
	if found.kind == varintType {
		return append(before, found.value), nil
	}
	for packed := found.bytes; len(packed) > 0; {
		value, size := binary.Uvarint(packed)
		if size <= 0 {
			return nil, errTruncated
		}
		before, packed = append(before, value), packed[size:]
	}
	return before, nil
}

func appendVarint(to []byte, number int, value uint64) []byte {
	if value == 0 {
		return to
	}
	to = binary.AppendUvarint(to, uint64(number)<<3|varintType)
	return binary.AppendUvarint(to, value)
}

func appendBytes(to []byte, number int, value []byte) []byte {
	to = binary.AppendUvarint(to, uint64(number)<<3|bytesType)
	to = binary.AppendUvarint(to, uint64(len(value)))
	return append(to, value...)
}

func appendPacked(to []byte, number int, values []uint64) []byte {
	var packed []byte
	for _, value := range values {
		packed = binary.AppendUvarint(packed, value)
	}
	return appendBytes(to, number, packed)
}
