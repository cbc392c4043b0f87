/// Finds passwords that consist of a few parts which guessing programs try first: common words, names of the account
/// and the service, years, rows of keys, sequences and repetitions.
///
///     "Password123456789"        // password, 123456789
///     "qwertyqwertyqwerty"       // a row of keys, repeated
///     "correct horse battery"    // acceptable: three words, none of which is in the list
///
/// The search is exact for the parts it knows: it finds the smallest number of parts that make up the password.
struct GuessablePassword {
    /// Up to so many parts are easy to guess.
    private static let fewParts = 3

    private let words: [[Character]]

    /// - Parameter words: words that belong to the account or the service.
    init(words: [String]) {
        let own = words.flatMap { word in
            let lower = word.lowercased()
            return [lower] + lower.split(whereSeparator: { !$0.isLetter }).map(String.init)
        }
        self.words = (own.filter { $0.count >= 3 } + CommonWords.all).map(Array.init)
    }

    func isGuessable(_ password: String) -> Bool {
        let text = Array(password.lowercased())
        if Set(text).count <= 3 || Self.isRepetition(text) { return true }
        return hasFewParts(text)
    }

    /// The letters that these characters often replace.
    private static let letters: [Character: Character] = [
        "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i", "|": "l",
    ]

    /// Whether the text is a part of at most five characters again and again, the last time perhaps cut.
    private static func isRepetition(_ text: [Character]) -> Bool {
        (1...5).contains { length in
            text.count >= 3 * length && text.indices.allSatisfy { text[$0] == text[$0 % length] }
        }
    }

    private func hasFewParts(_ text: [Character]) -> Bool {
        // fewest[i]: the smallest number of parts that make up the first i characters, and the last of these parts.
        var fewest: [(count: Int, last: ArraySlice<Character>)?] = Array(repeating: nil, count: text.count + 1)
        fewest[0] = (0, [])
        for start in text.indices {
            guard let before = fewest[start] else { continue }
            func reach(_ length: Int, isFree: Bool = false) {
                let part = text[start..<start + length]
                // The same part again makes a password hardly harder to guess.
                let count = before.count + (isFree || part.elementsEqual(before.last) ? 0 : 1)
                if count < fewest[start + length]?.count ?? Int.max {
                    fewest[start + length] = (count, isFree ? before.last : part)
                }
            }
            if Self.separates(text[start]) {
                // One between two parts costs nothing; a text of different ones is as good as a text of letters.
                let isFree = start == 0 || !Self.separates(text[start - 1]) || text[start] == text[start - 1]
                reach(1, isFree: isFree)
            }
            for word in words where Self.begins(text[start...], with: word) { reach(word.count) }
            for length in Self.patterns(text[start...]) { reach(length) }
        }
        return fewest[text.count].map { $0.count <= Self.fewParts } ?? false
    }

    private static func separates(_ character: Character) -> Bool {
        character.isASCII && !character.isLetter && !character.isNumber
    }

    /// Whether the text begins with the word, perhaps with characters that often replace its letters.
    private static func begins(_ text: ArraySlice<Character>, with word: [Character]) -> Bool {
        text.count >= word.count && zip(text, word).allSatisfy { $0 == $1 || letters[$0] == $1 }
    }

    /// The lengths of the patterns that the text begins with.
    private static func patterns(_ text: ArraySlice<Character>) -> [Int] {
        var lengths: [Int] = []
        let digits = text.prefix { $0.isASCII && $0.isNumber }.count
        if digits >= 1 { lengths.append(min(digits, 2)) }
        if digits >= 4, text.starts(with: "19") || text.starts(with: "20") { lengths.append(4) }
        for row in rows {
            guard let first = text.first, let place = row.firstIndex(of: first) else { continue }
            for step in [1, -1] {
                var (length, next) = (1, place + step)
                while length < text.count, row.indices.contains(next), text[text.startIndex + length] == row[next] {
                    length += 1
                    next += step
                }
                if length >= 3 { lengths += Array(3...length) }
            }
        }
        let same = text.prefix { $0 == text.first }.count
        if same >= 3 { lengths.append(same) }
        return lengths
    }

    private static let rows: [[Character]] = [
        "abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiopü",
        "yxcvbnm", "azertyuiop", "qsdfghjklm", "wxcvbn", "1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6yhn", "7ujm",
    ].map(Array.init)
}
