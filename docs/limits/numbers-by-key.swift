// What a number that is read by key costs at best on Linux, beside reading the number itself.
//
//     swiftc -O docs/limits/numbers-by-key.swift -o /tmp/numbers-by-key
//     /tmp/numbers-by-key                    # processor time of one call, the best of 7 runs
//
// `value(forKey:)` gives `Any?`, and a number in it is an `NSNumber`, as on Apple's platforms: programs cast to it. Here an `NSNumber`
// is an object with a header of Core Foundation's, and to make and give back one costs more than three times what an accessor
// of a managed object takes (17 to 19 ns, C1 in Benchmarks/RESULTS.md), before the key has been looked at. Apple's has no memory at all: the
// number is in the pointer.
//
// What it showed (Swift 6.3.1, Debian 12, nanoseconds):
//
//     a stored property                                  10
//     an NSNumber of a Float, made and given back       105
//     an NSNumber of a Double, made and given back      105
//     an NSNumber that is there already, retained        18
//
// Numbers that come often, booleans and small whole ones, are therefore made once and kept (`SharedNumbers`).

import Foundation

final class Item: NSObject {
    var quantity: Float = 1.5
}

let callCount = 2_000_000

@inline(never) func measure(_ name: String, _ body: (Int) -> Void) {
    var best = Double.infinity
    for _ in 0..<7 {
        let start = clock()
        for index in 0..<callCount { body(index) }
        best = min(best, Double(clock() - start) * 1e9 / Double(CLOCKS_PER_SEC) / Double(callCount))
    }
    print("//     " + name.padding(toLength: 46, withPad: " ", startingAt: 0) + String(format: "%8.0f", best))
}

let item = Item()
let kept = NSNumber(value: Float(2.5))
@inline(never) func stored() -> Float { item.quantity }
@inline(never) func float(_ value: Float) -> Any? { NSNumber(value: value) }
@inline(never) func double(_ value: Double) -> Any? { NSNumber(value: value) }
@inline(never) func shared() -> Any? { kept }

var sum: Float = 0
measure("a stored property") { _ in sum += stored() }
measure("an NSNumber of a Float, made and given back") { if float(Float($0) + 0.5) == nil { sum += 1 } }
measure("an NSNumber of a Double, made and given back") { if double(Double($0) + 0.5) == nil { sum += 1 } }
measure("an NSNumber that is there already, retained") { _ in if shared() == nil { sum += 1 } }
precondition(sum > 0)
