package identity

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersDoNotDependOnOrder(t *testing.T) {
	one, other := NewSource(1), NewSource(1)
	a, b := one.Number("task", "a"), one.Number("task", "b")
	require.Equal(t, b, other.Number("task", "b"))
	require.Equal(t, a, other.Number("task", "a"))
	require.NotEqual(t, a, one.Number("task", "a"), "the second one of a name")
	require.NotEqual(t, a, NewSource(2).Number("task", "a"), "another seed")
}

func TestUUIDsAreThoseOfTheSeed(t *testing.T) {
	one := NewSource(1).UUID("cp-1")
	require.Equal(t, one, NewSource(1).UUID("cp-1"))
	require.NotEqual(t, one, NewSource(1).UUID("cp-2"))
	require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, one)
}
