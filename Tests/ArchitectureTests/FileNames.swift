/// The names that one file declares for the rest of its module, and the names that it uses. Read from the code without a compiler.
///
///     extension Shelf { func sortedBooks() -> [Book] { books } }
///     // members: sortedBooks; named: Shelf, Book, …
struct FileNames: Sendable {
    /// Types, functions, variables and constants of the file's top level, unless they are private.
    fileprivate(set) var topLevel: Set<String> = []
    /// Functions, variables, constants and types in extensions of the file's top level, unless they are private.
    fileprivate(set) var members: Set<String> = []
    /// Everything that the file declares at any depth, private or local declarations too.
    fileprivate(set) var declared: Set<String> = []
    /// Words that do not follow a dot: they may name something of a top level.
    fileprivate(set) var named: Set<String> = []
    /// Words that are no labels of arguments or parameters: they may name a member.
    fileprivate(set) var mentioned: Set<String> = []

    init(_ source: SourceText) {
        var reader = FileNameReader(bytes: Array(source.code.utf8))
        reader.run()
        self = reader.names
    }

    fileprivate init() {}
}

/// Reads code word by word, and counts braces.
private struct FileNameReader {
    let bytes: [UInt8]
    var names = FileNames()
    private var depth = 0
    /// The word before on the same line, unless a brace stands between.
    private var previous: (word: String, end: Int)?
    /// Whether the line has said `private` or `fileprivate`.
    private var isPrivate = false
    /// The declaration of the top level in which the reader is.
    private var outer = (keyword: "", isPrivate: false)
    /// The last word, which is a parameter's label if a second word follows.
    private var pending: String?

    init(bytes: [UInt8]) { self.bytes = bytes }

    private static let declaring: Set<String> = [
        "struct", "class", "enum", "protocol", "actor", "typealias", "func", "var", "let", "case", "extension", "macro",
        "associatedtype",
    ]
    /// Words that may follow an expression.
    private static let afterExpressions: Set<String> = ["where", "in", "is", "as", "else", "throws", "async"]
    private static let braces = (open: UInt8(ascii: "{"), close: UInt8(ascii: "}"))

    mutating func run() {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            var end = index + 1
            if Self.beginsWord(byte) {
                while end < bytes.count, Self.beginsWord(bytes[end]) || Self.isDigit(bytes[end]) { end += 1 }
                take(index..<end)
            } else if byte == Self.braces.open || byte == Self.braces.close {
                depth += byte == Self.braces.open ? 1 : -1
                previous = nil
            } else if byte == UInt8(ascii: "\n") {
                isPrivate = false
                previous = nil
            }
            index = end
        }
        if let pending { names.mentioned.insert(pending) }
    }

    private mutating func take(_ range: Range<Int>) {
        let before = range.lowerBound > 0 ? bytes[range.lowerBound - 1] : 0
        // A part of a number, such as 0xFF.
        if Self.isDigit(before) {
            previous = nil
            return
        }
        let word = String(decoding: bytes[range], as: UTF8.self)
        let follows = previous.map { previous in
            previous.end < range.lowerBound
                && bytes[previous.end..<range.lowerBound].allSatisfy { $0 == UInt8(ascii: " ") }
        }
        if let pending, follows != true || Self.afterExpressions.contains(word) { names.mentioned.insert(pending) }
        pending = nil
        if word == "private" || word == "fileprivate" {
            isPrivate = isPrivate || !bytes[range.upperBound...].starts(with: "(set)".utf8)
        }
        if follows == true, let keyword = previous?.word, Self.declaring.contains(keyword),
            !Self.declaring.contains(word)
        {
            declare(word, by: keyword)
        } else if depth == 0, word == "extension" {
            outer = (word, isPrivate)
        }
        if before != UInt8(ascii: ".") { names.named.insert(word) }
        if range.upperBound == bytes.count || bytes[range.upperBound] != UInt8(ascii: ":") { pending = word }
        previous = (word, range.upperBound)
    }

    private mutating func declare(_ name: String, by keyword: String) {
        if keyword != "extension" { names.declared.insert(name) }
        if depth == 0 {
            outer = (keyword, isPrivate)
            if keyword != "extension", !isPrivate { names.topLevel.insert(name) }
        } else if depth == 1, outer.keyword == "extension", !outer.isPrivate, !isPrivate, keyword != "case" {
            names.members.insert(name)
        }
    }

    private static func beginsWord(_ byte: UInt8) -> Bool {
        // Letters of ASCII differ in one bit from their capitals.
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte & 0x40 != 0 || byte == UInt8(ascii: "_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
