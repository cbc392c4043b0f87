import CoreDataModel

/// Estimates the maximum width of text in the usual sans-serif fonts of browsers: Helvetica, Arial and Liberation Sans,
/// whose widths are equal, and DejaVu Sans, the wider substitute on many Linux systems.
enum TextMeasure {
    /// The widths of printable ASCII, starting with the space, in thousandths of the font size: the larger of the two.
    private static let ascii: [Int] = [
        318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636,
        636, 636, 636, 636, 337, 337, 838, 838, 838, 556, 1015, 684, 686, 722, 770, 667, 611, 778, 752, 295, 500, 667,
        557, 863, 748, 787, 667, 787, 722, 667, 611, 732, 684, 989, 685, 667, 685, 390, 337, 390, 838, 556, 500, 613,
        635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818,
        592, 592, 525, 636, 337, 636, 838,
    ]

    static func width(of text: String, size: Double, isBold: Bool = false) -> Double {
        let units = text.unicodeScalars.reduce(0) { $0 + Self.units(of: $1) }
        return Double(units) / 1000 * size * (isBold ? 1.15 : 1)
    }

    private static func units(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 32..<127: ascii[Int(scalar.value) - 32]
        case 0x300..<0x370: 0
        case 0x1100..<0x1200, 0x2E80..<0xD7B0, 0xF900..<0xFB00, 0xFE30..<0xFE70, 0xFF00..<0xFF61, 0x1F000..<0x40000:
            1000
        default: 700
        }
    }

    /// Returns the text, truncated with an ellipsis if it does not fit.
    static func fitted(_ text: String, width: Double, size: Double, isBold: Bool = false) -> String {
        if Self.width(of: text, size: size, isBold: isBold) <= width { return text }
        var shorter = text
        while !shorter.isEmpty, Self.width(of: shorter + "…", size: size, isBold: isBold) > width {
            shorter.removeLast()
        }
        return shorter + "…"
    }
}
