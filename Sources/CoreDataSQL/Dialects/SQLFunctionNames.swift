/// The functions and collations that every driver registers on its connections, beyond what its database has.
///
/// A NULL argument gives NULL unless the function says otherwise, and so does one of a kind that the function has
/// no use for. An `options` argument is an integer: the sum of 1 (case insensitive), 2 (diacritic insensitive),
/// 4 (normalized) and 8 (locale sensitive). Only ``random`` gives another result for the same arguments.
package enum SQLFunctionName {
    // MARK: Text, by TextComparison

    /// `(left, right, options)` → 1 where the texts are equal, else 0.
    package static let textEqual = "CDTextEqual"
    /// `(text, prefix, options)` → 1 or 0.
    package static let textBeginsWith = "CDTextBeginsWith"
    /// `(text, suffix, options)` → 1 or 0.
    package static let textEndsWith = "CDTextEndsWith"
    /// `(text, part, options)` → 1 or 0.
    package static let textContains = "CDTextContains"
    /// `(text, pattern, options)` → 1 or 0; the pattern has `*` and `?`.
    package static let textLike = "CDTextLike"
    /// `(text, pattern, options)` → 1 or 0; a regular expression that fits the whole text.
    package static let textMatches = "CDTextMatches"
    /// `(left, right, options)` → -1, 0 or 1.
    package static let textCompare = "CDTextCompare"
    /// `(text)` → the text in upper case.
    package static let uppercase = "CDUppercase"
    /// `(text)` → the text in lower case.
    package static let lowercase = "CDLowercase"
    /// `(text)` → the text without case and diacritics.
    package static let canonical = "CDCanonical"
    /// `(text)` → the number of UTF-16 units, as `length:` counts them.
    package static let textLength = "CDTextLength"

    // MARK: Arithmetic

    /// `(base, exponent)` → a real.
    package static let power = "CDPower"
    /// `(x)` → a real; NULL where it is no number.
    package static let squareRoot = "CDSquareRoot"
    /// `(x)` → the natural logarithm; NULL where x is not above 0.
    package static let naturalLogarithm = "CDNaturalLogarithm"
    /// `(x)` → the logarithm to base 10; NULL where x is not above 0.
    package static let logarithm = "CDLogarithm"
    /// `(x)` → e raised to x.
    package static let exponential = "CDExponential"
    /// `(x)` → the greatest whole number not above x, as a real; an integer stays one.
    package static let floor = "CDFloor"
    /// `(x)` → the smallest whole number not below x, as a real; an integer stays one.
    package static let ceiling = "CDCeiling"
    /// `(x)` → x without its fraction, as a real; an integer stays one.
    package static let truncate = "CDTruncate"
    /// `(a, b)` → the bits that differ.
    package static let bitwiseXor = "CDBitwiseXor"
    /// `(a, b)` → the quotient: whole for two integers, else a real; by zero NULL.
    package static let divide = "CDDivide"
    /// `(a, b)` → the remainder of whole division; by zero NULL.
    package static let modulus = "CDModulus"
    /// `(a, b)` → bits shifted to the left; by more than 63 gives 0.
    package static let leftShift = "CDLeftShift"
    /// `(a, b)` → bits shifted to the right, the sign kept.
    package static let rightShift = "CDRightShift"
    /// `()` → a real from 0 up to, not with, 1; `(n)` → an integer from 0 up to, not with, n.
    package static let random = "CDRandom"
    /// `()` → the seconds since 2001-01-01 00:00:00 UTC, at the statement's start.
    package static let now = "CDNow"

    // MARK: Aggregates

    /// `(x)` → the median of the numbers, NULL of none.
    package static let median = "CDMedian"
    /// `(x)` → the standard deviation of the population, NULL of none.
    package static let standardDeviation = "CDStandardDeviation"
    /// `(x)` → the value that occurs most often, the smallest of several; NULL of none.
    package static let mode = "CDMode"

    // MARK: Called by Apple's triggers

    /// `(table, Z_ENT, Z_PK, attribute, value)` → NULL: a derived attribute of a row was set by an UPDATE.
    package static let derivedAttributeUpdated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    /// `(table, Z_ENT, Z_PK, attribute, value)` → NULL: a derived attribute of a row was set by its INSERT.
    package static let derivedAttributeInserted = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
}

/// The collations that every driver has, for `ORDER BY … COLLATE`.
package enum SQLCollationName {
    package static let caseInsensitive = "CDCaseInsensitive"
    package static let localized = "CDLocalized"
    package static let localizedCaseInsensitive = "CDLocalizedCaseInsensitive"
    package static let localizedStandard = "CDLocalizedStandard"
}
