/// How wide text is in Helvetica, Arial or Liberation Sans, whose widths are the same.
enum TextMeasure {
    /// The width of printable ASCII, from the space on, in thousandths of the font's size.
    private static let ascii: [Int] = [
        278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556,
        556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667,
        556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556,
        556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722,
        500, 500, 500, 334, 260, 334, 584,
    ]

    /// A little more than the width, as browsers replace fonts that are not there.
    static func width(of text: String, size: Double, isBold: Bool = false) -> Double {
        let units = text.unicodeScalars.reduce(0) { $0 + Self.units(of: $1) }
        return Double(units) / 1000 * size * (isBold ? 1.12 : 1.04)
    }

    private static func units(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 32..<127: ascii[Int(scalar.value) - 32]
        case 0x300..<0x370: 0
        case 0x1100..<0x1200, 0x2E80..<0xD7B0, 0xF900..<0xFB00, 0xFE30..<0xFE70, 0xFF00..<0xFF61, 0x1F000..<0x40000:
            1000
        default: 640
        }
    }

    /// The text, or as much of its beginning as fits, with an ellipsis.
    static func fitted(_ text: String, width: Double, size: Double, isBold: Bool = false) -> String {
        if Self.width(of: text, size: size, isBold: isBold) <= width { return text }
        var shorter = text
        while !shorter.isEmpty, Self.width(of: shorter + "…", size: size, isBold: isBold) > width {
            shorter.removeLast()
        }
        return shorter + "…"
    }
}
