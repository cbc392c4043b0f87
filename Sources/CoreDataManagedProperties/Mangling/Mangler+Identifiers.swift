/// Mangles identifiers, in which words that occurred before are abbreviated to letters.
///
///     identifier  ::= length characters                        // 4Note
///     identifier  ::= '0' (lower-word | run)* upper-word run?  // run: length characters, '0' for none at the end
///     identifier  ::= '00' length '_'? punycode                // not ASCII; '_' before a digit or '_'
///
/// A word starts at a letter and ends before '_', before an upper-case letter after a lower-case one, and at the end.
/// The first 26 words of at least two letters have the letters a to z:
///
///     addToNotes, then notesToAdd      // 10addToNotes: words add, To, Notes
///                                      // 05notesB3Add: "notes", word b, "Add"
extension Mangler {
    mutating func appendIdentifier(_ identifier: String) {
        if appendSubstitution(.identifier(identifier)) { return }
        remember(.identifier(identifier))
        let characters = Array(identifier.utf8)
        if Punycode.isNeeded(for: identifier) {
            let encoded = Punycode.encode(identifier)
            append("00\(encoded.utf8.count)")
            if let first = encoded.utf8.first, first == UInt8(ascii: "_") || Self.isDigit(first) { append("_") }
            append(encoded)
        } else {
            appendAbbreviated(characters, replacing: findWords(characters))
        }
    }

    private struct Replacement {
        /// The position in the identifier.
        var position: Int
        var word: Int
        var length: Int
    }

    private static let maximumWords = 26

    /// Returns the known words in the identifier and its new words, with positions relative to `pendingWords`.
    private mutating func findWords(_ characters: [UInt8]) -> (replacements: [Replacement], new: [Range<Int>]) {
        var replacements: [Replacement] = []
        var new: [Range<Int>] = []
        var start: Int?
        for position in 0...characters.count {
            let next = position < characters.count ? characters[position] : 0
            if let wordStart = start, Self.endsWord(next, after: characters[position - 1]) {
                let word = characters[wordStart..<position]
                if let known = words.firstIndex(where: { bytes[$0].elementsEqual(word) }) {
                    replacements.append(Replacement(position: wordStart, word: known, length: word.count))
                } else if let known = new.firstIndex(where: { characters[$0].elementsEqual(word) }) {
                    replacements.append(
                        Replacement(position: wordStart, word: words.count + known, length: word.count))
                } else if word.count >= 2, words.count + new.count < Self.maximumWords {
                    new.append(wordStart..<position)
                }
                start = nil
            }
            if start == nil, Self.startsWord(next) { start = position }
        }
        return (replacements, new)
    }

    private mutating func appendAbbreviated(
        _ characters: [UInt8], replacing found: (replacements: [Replacement], new: [Range<Int>])
    ) {
        if !found.replacements.isEmpty { append("0") }
        var position = 0
        for (index, replacement) in found.replacements.enumerated() {
            appendRun(characters, position..<replacement.position, words: found.new)
            position = replacement.position + replacement.length
            let isLast = index == found.replacements.count - 1
            append(byte: UInt8(ascii: isLast ? "A" : "a") + UInt8(replacement.word))
            if isLast, position == characters.count { append("0") }
        }
        appendRun(characters, position..<characters.count, words: found.new)
    }

    /// Writes characters after their number, and records the new positions of the words in them.
    private mutating func appendRun(_ characters: [UInt8], _ run: Range<Int>, words new: [Range<Int>]) {
        if run.isEmpty { return }
        append("\(run.count)")
        let offset = bytes.count - run.lowerBound
        for character in characters[run] { append(byte: character) }
        for word in new where run.contains(word.lowerBound) {
            words.append(word.lowerBound + offset..<word.upperBound + offset)
        }
    }

    static func isDigit(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
    }

    private static func isUpper(_ character: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
    }

    private static func startsWord(_ character: UInt8) -> Bool {
        character != 0 && character != UInt8(ascii: "_") && !isDigit(character)
    }

    private static func endsWord(_ character: UInt8, after previous: UInt8) -> Bool {
        character == 0 || character == UInt8(ascii: "_") || isUpper(character) && !isUpper(previous)
    }
}
