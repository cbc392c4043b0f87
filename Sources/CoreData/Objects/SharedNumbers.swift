import Foundation

/// Numbers as key-value coding gives them.
///
/// To make an `NSNumber` costs several times what reading the value does, so booleans and small whole numbers are made
/// once: they are what most attributes hold.
enum SharedNumbers {
    private static let no = NSNumber(value: false)
    private static let yes = NSNumber(value: true)
    private static let firstInteger: Int64 = -16
    private static let integerCount: Int64 = 1040
    // Never freed, and without an array around them that would be counted each time.
    private static let integers = kept((0..<integerCount).map { NSNumber(value: firstInteger + $0) })
    private static let floats = kept((0..<256).map { NSNumber(value: Float($0)) })

    private struct Numbers: @unchecked Sendable {
        // Safe because the memory is never written, and its numbers do not change.
        let start: UnsafePointer<NSNumber>
    }

    private static func kept(_ numbers: [NSNumber]) -> Numbers {
        let start = UnsafeMutablePointer<NSNumber>.allocate(capacity: numbers.count)
        start.initialize(from: numbers, count: numbers.count)
        return Numbers(start: start)
    }

    static func boolean(_ value: Bool) -> NSNumber { value ? yes : no }

    static func integer(_ value: Int64) -> NSNumber {
        let index = value &- firstInteger
        if index >= 0, index < integerCount { return integers.start[Int(index)] }
        return NSNumber(value: value)
    }

    static func float(_ value: Float) -> NSNumber {
        // Without the zero that has a minus, which is not to be lost.
        if value >= 0, value < 256, value.bitPattern >> 31 == 0 {
            let whole = Int(value)
            if Float(whole) == value { return floats.start[whole] }
        }
        return NSNumber(value: value)
    }
}
