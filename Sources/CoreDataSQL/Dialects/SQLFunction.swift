/// What SQL may be asked to compute of a row, beyond its operators; a dialect says which of these it has, and how it writes
/// them (``SQLDialect/form(of:)``).
///
/// A NULL argument gives NULL unless the function says otherwise, and so does one of a kind that the function has
/// no use for. An `options` argument is an integer constant: the sum of 1 (case insensitive), 2 (diacritic insensitive),
/// 4 (normalized) and 8 (locale sensitive). Only ``random`` gives another result for the same arguments.
///
/// The raw value of what no database has by itself is the name under which a driver registers it, where it can.
package enum SQLFunction: String, CaseIterable, Sendable {
    // MARK: Of every database, spelled in its own way

    /// `(a, b, …)` → the first that is not NULL.
    case coalesce
    /// `(a, b)` → the first that is not NULL.
    case ifNull
    /// `(a, b, …)` → the greatest; the arguments are not NULL, or all are.
    case greatest
    /// `(a, b, …)` → the least; the arguments are not NULL, or all are.
    case least
    /// `(x)` → the number without its sign.
    case absolute
    /// `(bytes)` → their number.
    case byteLength
    /// `(bytes)` → text of two digits for each, in upper case.
    case hexadecimal
    /// `(bytes, first, count)` → a part, counted from 1.
    case substring
    /// `(x)` → the kind of a value in a database whose columns hold values of any: `'integer'`, `'real'`, `'text'`, `'blob'`.
    case storageClass

    /// `(integer, real)` → less than, equal to or greater than 0, as the first is beside the second, both with every digit.
    case numberOrder

    // MARK: Columns of types that are no numbers, see SQLDialect.typesValues

    /// `(truth)` → 0 or 1.
    case number
    /// `(number)` → whether it is another than 0, as a column of truth takes it.
    case truth
    /// `(number)` → the number with 64 bits.
    case wideNumber
    /// `(date)` → seconds since 2001-01-01 00:00:00 UTC.
    case secondsOfDate
    /// `(seconds)` → the date.
    case dateOfSeconds
    /// `(text)` → its bytes in UTF-8.
    case bytesOfText
    /// `(date)` → the bytes of a text: microseconds since 1970-01-01 00:00:00 UTC.
    case bytesOfDate

    // MARK: Text, by TextComparison

    /// `(left, right, options)` → 1 where the texts are equal, else 0.
    case textEqual = "CDTextEqual"
    /// `(text, prefix, options)` → 1 or 0.
    case textBeginsWith = "CDTextBeginsWith"
    /// `(text, suffix, options)` → 1 or 0.
    case textEndsWith = "CDTextEndsWith"
    /// `(text, part, options)` → 1 or 0.
    case textContains = "CDTextContains"
    /// `(text, pattern, options)` → 1 or 0; the pattern has `*` and `?`.
    case textLike = "CDTextLike"
    /// `(text, pattern, options)` → 1 or 0; a regular expression that fits the whole text.
    case textMatches = "CDTextMatches"
    /// `(left, right, options)` → -1, 0 or 1.
    case textCompare = "CDTextCompare"
    /// `(text)` → the text in upper case.
    case uppercase = "CDUppercase"
    /// `(text)` → the text in lower case.
    case lowercase = "CDLowercase"
    /// `(text)` → the text without case and diacritics.
    case canonical = "CDCanonical"
    /// `(text)` → the number of UTF-16 units, as `length:` counts them.
    case textLength = "CDTextLength"
    /// `(text)` → the number of characters as people count them.
    case characterCount = "CDCharacterCount"

    // MARK: Searching

    /// `(text)` → what a trigram index keeps of the text, by SearchText.
    case searchText = "CDSearchText"
    /// `(searchTable, weight, …)` → how well a row of the table matches, the better the less; the weights are of its columns in order.
    case relevance = "bm25"
    /// `(searchTable, column, before, behind, ellipsis, count)` → at most so many words of a row's column with what matches between
    /// marks; the column is a place in the table.
    case excerpt = "snippet"

    // MARK: Arithmetic

    /// `(base, exponent)` → a real.
    case power = "CDPower"
    /// `(x)` → a real; NULL where it is no number.
    case squareRoot = "CDSquareRoot"
    /// `(x)` → the natural logarithm; NULL where x is not above 0.
    case naturalLogarithm = "CDNaturalLogarithm"
    /// `(x)` → the logarithm to base 10; NULL where x is not above 0.
    case logarithm = "CDLogarithm"
    /// `(x)` → e raised to x.
    case exponential = "CDExponential"
    /// `(x)` → the greatest whole number not above x, as a real; an integer stays one.
    case floor = "CDFloor"
    /// `(x)` → the smallest whole number not below x, as a real; an integer stays one.
    case ceiling = "CDCeiling"
    /// `(x)` → x without its fraction, as a real; an integer stays one.
    case truncate = "CDTruncate"
    /// `(a, b)` → the bits that differ.
    case bitwiseXor = "CDBitwiseXor"
    /// `(a, b)` → the quotient: whole for two integers, else a real; by zero NULL.
    case divide = "CDDivide"
    /// `(a, b)` → the sum of two decimals, as decimals are added: 0.1 and 0.2 is 0.3.
    case decimalAdd = "CDDecimalAdd"
    /// `(a, b)` → the difference of two decimals.
    case decimalSubtract = "CDDecimalSubtract"
    /// `(a, b)` → the product of two decimals.
    case decimalMultiply = "CDDecimalMultiply"
    /// `(a, b)` → the quotient of two decimals, never a whole one only; by zero NULL.
    case decimalDivide = "CDDecimalDivide"
    /// `(a, b)` → the remainder of whole division; by zero NULL.
    case modulus = "CDModulus"
    /// `(a, b)` → bits shifted to the left; by more than 63 gives 0.
    case leftShift = "CDLeftShift"
    /// `(a, b)` → bits shifted to the right, the sign kept.
    case rightShift = "CDRightShift"
    /// `()` → a real from 0 up to, not with, 1; `(n)` → an integer from 0 up to, not with, n.
    case random = "CDRandom"
    /// `()` → the moment of the statement's start, as a column of dates has it.
    case now = "CDNow"

    /// `(value, message)` → NULL; for any other value the statement fails with the message, as what cannot be computed. It is not
    /// worked out beforehand, though both be constants.
    case outOfRange = "CDOutOfRange"

    // MARK: Called by Apple's triggers

    /// `(table, Z_ENT, Z_PK, attribute, value)` → NULL: a derived attribute of a row was set by an UPDATE.
    case derivedAttributeUpdated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    /// `(table, Z_ENT, Z_PK, attribute, value)` → NULL: a derived attribute of a row was set by its INSERT.
    case derivedAttributeInserted = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    /// `(table, Z_ENT, Z_PK, column, value)` → NULL: a column of a row was set by a trigger of an attribute with a predicate, as
    /// libraries of Photos have them. It gives the column's name where the other two give the attribute's.
    case predicateAttributeUpdated = "NSCoreDataTriggerUpdateAffectedObjectValue"

    // MARK: Of a driver alone

    /// `(constant)` → the key that whoever steps the statement asks for next.
    case nextKey = "CDNextKey"
    /// `()` → the number of the schema, as a constant that a query has once it is planned.
    case schemaVersion = "CDSchemaVersion"
}

/// What SQL may be asked to compute of many rows; NULLs are left out.
package enum SQLAggregate: String, CaseIterable, Sendable {
    case count
    case sum
    case average
    case minimum
    case maximum
    /// The first and the last of values that have an order though no minimum, such as UUIDs.
    case first
    case last
    /// The sum of decimals, as decimals are added.
    case decimalSum = "CDDecimalSum"
    /// The average of decimals.
    case decimalAverage = "CDDecimalAverage"
    /// The median of the numbers, NULL of none.
    case median = "CDMedian"
    /// The standard deviation of the population, NULL of none.
    case standardDeviation = "CDStandardDeviation"
    /// The value that occurs most often, the smallest of several; NULL of none.
    case mode = "CDMode"
}

/// Orders of text other than that of its scalars, for `ORDER BY … COLLATE`.
package enum SQLCollation: String, CaseIterable, Sendable {
    case caseInsensitive = "CDCaseInsensitive"
    case localized = "CDLocalized"
    case localizedCaseInsensitive = "CDLocalizedCaseInsensitive"
    case localizedStandard = "CDLocalizedStandard"
}
