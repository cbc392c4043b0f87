/// Encodes non-ASCII identifiers in symbols: Punycode (RFC 3492) with the digits `a…z A…J` and `_` as the delimiter.
enum Punycode {
    /// Returns whether an identifier must be encoded: it is not ASCII, or it is in backticks and has other characters.
    static func isNeeded(for identifier: String) -> Bool {
        !identifier.utf8.allSatisfy { isSymbolCharacter(UInt32($0)) }
    }

    static func encode(_ identifier: String) -> String {
        let points = identifier.unicodeScalars.map { mapped($0.value) }
        var output = points.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "_")) }
        var handled = basicCount
        var next: UInt32 = 128
        var delta = 0
        var bias = 72
        while handled < points.count, let smallest = points.filter({ $0 >= next }).min() {
            delta += Int(smallest - next) * (handled + 1)
            next = smallest
            for point in points {
                if point < next { delta += 1 }
                guard point == next else { continue }
                appendVariableLength(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func appendVariableLength(_ value: Int, bias: Int, to output: inout [UInt8]) {
        var rest = value
        var position = 36
        while true {
            let threshold = position <= bias ? 1 : min(26, position - bias)
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps = 0
        while delta > (36 - 1) * 26 / 2 {
            delta /= 36 - 1
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "A") + UInt8(value - 26)
    }

    private static func isSymbolCharacter(_ point: UInt32) -> Bool {
        switch point {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x24: true
        default: false
        }
    }

    /// ASCII characters that symbols cannot contain are mapped beyond the surrogates.
    private static func mapped(_ point: UInt32) -> UInt32 {
        point < 0x80 && !isSymbolCharacter(point) ? point + 0xD800 : point
    }
}
