/// The functions of a row that SQL may compute, besides its operators. A dialect declares which of them it supports and
/// how it writes them (``SQLDialect/form(of:)``).
///
/// An argument that is NULL, or of a kind that the function does not support, gives NULL, unless documented otherwise.
/// An `options` argument is an integer constant: the sum of 1 (case insensitive), 2 (diacritic insensitive), 4
/// (normalized) and 8 (locale sensitive). Only ``random`` gives different results for the same arguments.
///
/// The raw value of a function that no database has is the name under which a driver registers it, if it can.
package enum SQLFunction: String, CaseIterable, Sendable {
    // MARK: Functions of every database, with different spellings

    /// `(a, b, …)` → the first argument that is not NULL.
    case coalesce
    /// `(a, b)` → the first argument that is not NULL.
    case ifNull
    /// `(a, b, …)` → the greatest argument; none of the arguments is NULL, or all are.
    case greatest
    /// `(a, b, …)` → the least argument; none of the arguments is NULL, or all are.
    case least
    /// `(x)` → the absolute value.
    case absolute
    /// `(bytes)` → the number of bytes.
    case byteLength
    /// `(bytes)` → text with two upper-case digits per byte.
    case hexadecimal
    /// `(bytes, first, count)` → a part, counted from 1.
    case substring
    /// `(x)` → the storage class of a value, in a database with untyped columns: `'integer'`, `'real'`, `'text'`,
    /// `'blob'`.
    case storageClass

    /// `(integer, real)` → a negative number, 0 or a positive number: the exact order of the two.
    case numberOrder

    // MARK: Conversions of typed columns, see SQLDialect.typesValues

    /// `(boolean)` → 0 or 1.
    case number
    /// `(number)` → whether it is not 0, for a boolean column.
    case truth
    /// `(number)` → the number as a 64-bit integer.
    case wideNumber
    /// `(date)` → seconds since 2001-01-01 00:00:00 UTC.
    case secondsOfDate
    /// `(seconds)` → the date.
    case dateOfSeconds
    /// `(text)` → its UTF-8 bytes.
    case bytesOfText
    /// `(date)` → the bytes of a text: microseconds since 1970-01-01 00:00:00 UTC.
    case bytesOfDate

    // MARK: Text, with the semantics of TextComparison

    /// `(left, right, options)` → 1 if the texts are equal, else 0.
    case textEqual = "CDTextEqual"
    /// `(text, prefix, options)` → 1 or 0.
    case textBeginsWith = "CDTextBeginsWith"
    /// `(text, suffix, options)` → 1 or 0.
    case textEndsWith = "CDTextEndsWith"
    /// `(text, part, options)` → 1 or 0.
    case textContains = "CDTextContains"
    /// `(text, pattern, options)` → 1 or 0; the pattern has `*` and `?`.
    case textLike = "CDTextLike"
    /// `(text, pattern, options)` → 1 or 0; a regular expression that matches the whole text.
    case textMatches = "CDTextMatches"
    /// `(left, right, options)` → -1, 0 or 1.
    case textCompare = "CDTextCompare"
    /// `(text)` → the upper-case text.
    case uppercase = "CDUppercase"
    /// `(text)` → the lower-case text.
    case lowercase = "CDLowercase"
    /// `(text)` → the text without case and diacritics.
    case canonical = "CDCanonical"
    /// `(text)` → the number of UTF-16 code units, as `length:` counts them.
    case textLength = "CDTextLength"
    /// `(text)` → the number of user-perceived characters.
    case characterCount = "CDCharacterCount"

    // MARK: Searching

    /// `(text)` → the text that a trigram index stores, by SearchText.
    case searchText = "CDSearchText"
    /// `(searchTable, weight, …)` → the rank of a matching row; smaller is better. The weights are those of its
    /// columns, in order.
    case relevance = "bm25"
    /// `(searchTable, column, before, after, ellipsis, count)` → at most `count` words of a row's column, with matches
    /// between the marks `before` and `after`; `column` is an index in the table.
    case excerpt = "snippet"

    // MARK: Arithmetic

    /// `(base, exponent)` → a real.
    case power = "CDPower"
    /// `(x)` → a real; NULL if the result is not a number.
    case squareRoot = "CDSquareRoot"
    /// `(x)` → the natural logarithm; NULL if x is not positive.
    case naturalLogarithm = "CDNaturalLogarithm"
    /// `(x)` → the logarithm to base 10; NULL if x is not positive.
    case logarithm = "CDLogarithm"
    /// `(x)` → e raised to x.
    case exponential = "CDExponential"
    /// `(x)` → the greatest integer not above x, as a real; an integer is unchanged.
    case floor = "CDFloor"
    /// `(x)` → the smallest integer not below x, as a real; an integer is unchanged.
    case ceiling = "CDCeiling"
    /// `(x)` → x without its fraction, as a real; an integer is unchanged.
    case truncate = "CDTruncate"
    /// `(a, b)` → the bits that differ.
    case bitwiseXor = "CDBitwiseXor"
    /// `(a, b)` → the quotient: an integer for two integers, else a real; NULL for division by zero.
    case divide = "CDDivide"
    /// `(a, b)` → the exact sum of two decimals: 0.1 and 0.2 give 0.3.
    case decimalAdd = "CDDecimalAdd"
    /// `(a, b)` → the exact difference of two decimals.
    case decimalSubtract = "CDDecimalSubtract"
    /// `(a, b)` → the exact product of two decimals.
    case decimalMultiply = "CDDecimalMultiply"
    /// `(a, b)` → the quotient of two decimals, with its fraction; NULL for division by zero.
    case decimalDivide = "CDDecimalDivide"
    /// `(a, b)` → the remainder of integer division; NULL for division by zero.
    case modulus = "CDModulus"
    /// `(a, b)` → a shifted left; 0 for more than 63 bits.
    case leftShift = "CDLeftShift"
    /// `(a, b)` → a shifted right, keeping the sign.
    case rightShift = "CDRightShift"
    /// `()` → a real from 0 to below 1; `(n)` → an integer from 0 to below n.
    case random = "CDRandom"
    /// `()` → the start time of the statement, as a date column stores it.
    case now = "CDNow"

    /// `(value, message)` → NULL for NULL; for any other value, the statement fails with the message as a computation
    /// error. The database must not evaluate it during planning, even for two constants.
    case outOfRange = "CDOutOfRange"

    // MARK: Called by Apple's triggers

    /// `(table, Z_ENT, Z_PK, attribute, value)` → NULL: reports that an UPDATE set a derived attribute of a row.
    case derivedAttributeUpdated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    /// `(table, Z_ENT, Z_PK, attribute, value)` → NULL: reports that the row's INSERT set a derived attribute.
    case derivedAttributeInserted = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    /// `(table, Z_ENT, Z_PK, column, value)` → NULL: reports that the trigger of an attribute with a predicate set a
    /// column; libraries of Photos have such triggers. It passes the column's name; the other two pass the attribute's.
    case predicateAttributeUpdated = "NSCoreDataTriggerUpdateAffectedObjectValue"

    // MARK: Internal functions of a driver

    /// `(constant)` → the key that the statement's client requests next.
    case nextKey = "CDNextKey"
    /// `()` → the schema's version, a constant in a planned query.
    case schemaVersion = "CDSchemaVersion"
}

/// The aggregates that SQL may compute of many rows; they ignore NULL.
package enum SQLAggregate: String, CaseIterable, Sendable {
    case count
    case sum
    case average
    case minimum
    case maximum
    /// The first and the last of values that have an order but no minimum function, such as UUIDs.
    case first
    case last
    /// The exact sum of decimals.
    case decimalSum = "CDDecimalSum"
    /// The average of decimals.
    case decimalAverage = "CDDecimalAverage"
    /// The median of the numbers; NULL for none.
    case median = "CDMedian"
    /// The standard deviation of the population; NULL for none.
    case standardDeviation = "CDStandardDeviation"
    /// The most frequent value, the smallest of several; NULL for none.
    case mode = "CDMode"
}

/// Orders of text other than by scalars, for `ORDER BY … COLLATE`.
package enum SQLCollation: String, CaseIterable, Sendable {
    case caseInsensitive = "CDCaseInsensitive"
    case localized = "CDLocalized"
    case localizedCaseInsensitive = "CDLocalizedCaseInsensitive"
    case localizedStandard = "CDLocalizedStandard"
}
