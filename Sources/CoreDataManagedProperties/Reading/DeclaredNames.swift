/// Finds the names of types that a text declares by scanning its words, to decide which files must be parsed.
enum DeclaredNames {
    private static let keywords: Set<[UInt8]> = Set(
        ["class", "struct", "enum", "protocol", "actor", "typealias"].map { Array($0.utf8) })

    static func scan(_ text: String) -> Set<String> {
        var names: Set<String> = []
        var word: [UInt8] = []
        var isAfterKeyword = false
        for byte in text.utf8 {
            if isWord(byte) {
                word.append(byte)
                continue
            }
            if !word.isEmpty {
                if isAfterKeyword { names.insert(String(decoding: word, as: UTF8.self)) }
                isAfterKeyword = keywords.contains(word)
                word.removeAll(keepingCapacity: true)
            }
        }
        return names
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
