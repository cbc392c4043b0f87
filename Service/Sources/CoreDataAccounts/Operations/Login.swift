import Foundation

/// A name or an e-mail address in the form in which it is unique.
enum Login: Hashable, Sendable {
    case name(String)
    case email(String)

    /// What a person typed to sign in: an e-mail address if it contains an at sign. Any text is accepted here; a text
    /// that can be no name or address finds no account.
    init(_ text: String) {
        let text = String(text.unicodeScalars.prefix(400)).trimmingCharacters(in: .whitespaces)
        if text.contains("@") { self = .email(EmailAddress.key(text)) } else { self = .name(AccountName.key(text)) }
    }

    var key: String {
        switch self {
        case .name(let key), .email(let key): key
        }
    }
}

/// The rules for names of accounts.
enum AccountName {
    /// How many characters a name has.
    static let lengths = 2...40

    /// Returns the name as it is stored.
    ///
    /// - Throws: an error that says what is wrong with it.
    static func checked(_ name: String) throws(AccountError) -> String {
        guard name.utf8.count <= 1000 else { throw invalid("it has more than \(lengths.upperBound) characters") }
        let text = name.trimmingCharacters(in: .whitespaces).precomposedStringWithCanonicalMapping
        guard lengths.contains(text.unicodeScalars.count), lengths.contains(key(text).unicodeScalars.count) else {
            throw invalid("it must have \(lengths.lowerBound) to \(lengths.upperBound) characters")
        }
        for scalar in text.unicodeScalars where !isAllowed(scalar) {
            throw invalid("it may contain letters, digits, '.', '-' and '_' only")
        }
        guard let first = text.first, first.isLetter || first.isNumber else {
            throw invalid("it must begin with a letter or a digit")
        }
        return text
    }

    /// Returns the form in which names are compared: without case, and with compatible characters as one.
    static func key(_ name: String) -> String {
        name.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCompatibilityMapping
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber:
            true
        default: ".-_".unicodeScalars.contains(scalar)
        }
    }

    private static func invalid(_ reason: String) -> AccountError { .invalidName(reason: reason) }
}

/// The rules for e-mail addresses.
enum EmailAddress {
    /// Returns the address as it is stored and compared: in lower case, composed.
    ///
    /// Only the form is checked: one at sign, a host with a dot, and no character that could add a line to a message.
    /// The link that confirms the address proves the rest.
    static func checked(_ address: String) throws(AccountError) -> String {
        guard address.utf8.count <= 254 else { throw AccountError.invalidEmail }
        let text = key(address.trimmingCharacters(in: .whitespaces))
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count), text.utf8.count <= 254,
            parts[0].unicodeScalars.allSatisfy({ isPrinting($0) && !"()<>[]:;,\\\"".unicodeScalars.contains($0) })
        else { throw AccountError.invalidEmail }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2,
            labels.allSatisfy({ label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                    && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
            })
        else { throw AccountError.invalidEmail }
        return text
    }

    static func key(_ address: String) -> String {
        address.lowercased().precomposedStringWithCanonicalMapping
    }

    private static func isPrinting(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            false
        default: true
        }
    }
}
