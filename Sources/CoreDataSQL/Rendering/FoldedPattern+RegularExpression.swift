import CoreDataPrimitives

extension FoldedPattern {
    /// Returns the pattern as an advanced regular expression for PostgreSQL's operator `~`.
    ///
    ///     FoldedPattern(.beginsWith, "ok", options: 1)   // ^[Oo][KkK]
    ///
    /// Letters are written literally, so that people can read it and a trigram index (`gin_trgm_ops`) can be used;
    /// marks are written by number.
    package var regularExpression: String {
        var text = ""
        if isAtStart { text += "^" + firstGap.regularExpression }
        for part in parts {
            switch part {
            case .anything: text += ".*"
            case .letter(let scalars, let isOptional, let gap):
                let letters = scalars.map(\.inRegularExpression).joined()
                text += scalars.count == 1 ? letters : "[\(letters)]"
                if isOptional { text += "?" }
                text += gap.regularExpression
            }
        }
        return isAtEnd ? text + "$" : text
    }
}

extension FoldedPattern.Gap {
    fileprivate var regularExpression: String {
        switch self {
        case .none: ""
        case .latinMarks: Self.latinMarksExpression
        case .marks: Self.marksExpression
        }
    }

    private static let latinMarksExpression = expression(latinMarkRanges)
    private static let marksExpression = expression(markRanges)

    private static func expression(_ ranges: [ClosedRange<UInt32>]) -> String {
        let parts = ranges.map { range in
            [range.lowerBound, range.upperBound].map { $0.inRegularExpression }.joined(separator: "-")
        }
        return "[" + parts.joined() + "]*"
    }
}

extension UInt32 {
    /// The scalar by its number: `\u0301`, `\U000e0100`.
    fileprivate var inRegularExpression: String {
        let digits = String(self, radix: 16)
        let length = self < 0x10000 ? 4 : 8
        return (length == 4 ? "\\u" : "\\U") + String(repeating: "0", count: length - digits.count) + digits
    }
}

extension Unicode.Scalar {
    fileprivate var inRegularExpression: String {
        let isAlphanumeric = isASCII && (properties.isAlphabetic || ("0"..."9").contains(self))
        if isASCII {
            if isAlphanumeric { return String(Character(self)) }
            // A backslash makes any other ASCII character literal; invisible characters are written by number.
            return value < 0x20 || value == 0x7F ? value.inRegularExpression : "\\" + String(Character(self))
        }
        return properties.isAlphabetic && !isPartOfOthers ? String(Character(self)) : value.inRegularExpression
    }
}
