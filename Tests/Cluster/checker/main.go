// SPDX-License-Identifier: Apache-2.0

// Judges whether a history of operations on registers and lists is linearizable, by porcupine.
//
// It reads lines of JSON from standard input, one for each operation, and exits with 0 when the history is linearizable, 1 when it is not,
// and 2 when that could not be found out in time. Each key is judged by itself.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// An operation as it is logged.
type operation struct {
	Key    string `json:"key"`
	Client int    `json:"client"`
	// write, read, swap or append.
	Kind string `json:"kind"`
	// What is written, swapped in or appended.
	Value string `json:"value"`
	// What a swap expects.
	Old string `json:"old"`
	// What a read has seen; for a swap yes, no, or nothing when that is not known.
	Seen string `json:"seen"`
	// When it was called, and when it returned, in nanoseconds; it is not known whether one without a return has happened.
	Call   int64  `json:"call"`
	Return *int64 `json:"return"`
}

// What a register or a list has, as text. Lists have their elements with commas behind them.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		places := map[string]int{}
		parts := [][]porcupine.Operation{}
		for _, one := range history {
			key := one.Input.(operation).Key
			place, isKnown := places[key]
			if !isKnown {
				place = len(parts)
				places[key] = place
				parts = append(parts, nil)
			}
			parts[place] = append(parts[place], one)
		}
		return parts
	},
	Init: func() interface{} { return "" },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		one, now := input.(operation), state.(string)
		switch one.Kind {
		case "write":
			return true, one.Value
		case "append":
			return true, now + one.Value + ","
		case "swap":
			switch one.Seen {
			case "yes":
				return now == one.Old, one.Value
			case "no":
				return now != one.Old, now
			}
			if now == one.Old {
				return true, one.Value
			}
			return true, now
		default:
			return now == one.Seen, now
		}
	},
	DescribeOperation: func(input, output interface{}) string { return fmt.Sprint(input) },
}

func main() {
	history := []porcupine.Operation{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<26)
	for lines.Scan() {
		var one operation
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fmt.Println("not an operation:", err)
			os.Exit(3)
		}
		end := int64(math.MaxInt64)
		if one.Return != nil {
			end = *one.Return
		}
		history = append(history, porcupine.Operation{ClientId: one.Client, Input: one, Call: one.Call, Output: nil, Return: end})
	}
	switch porcupine.CheckOperationsTimeout(model, history, 120*time.Second) {
	case porcupine.Ok:
		fmt.Println("linearizable:", len(history), "operations")
	case porcupine.Illegal:
		fmt.Println("NOT linearizable:", len(history), "operations")
		os.Exit(1)
	default:
		fmt.Println("not found out in time:", len(history), "operations")
		os.Exit(2)
	}
}
