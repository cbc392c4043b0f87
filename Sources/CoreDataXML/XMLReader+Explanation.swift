import CExpat

// For most errors, expat reports only the position. This code reads the text at that position to find the cause.

extension XMLReader {
    /// Describes expat's error, at the position where the author must correct it.
    func explanation(of code: XML_Error) -> XMLFailure {
        let mistake = Mistake(reader: self)
        switch code {
        case XML_ERROR_NO_MEMORY: return mistake.failure("there is no memory left")
        case XML_ERROR_NO_ELEMENTS, XML_ERROR_UNCLOSED_TOKEN, XML_ERROR_PARTIAL_CHAR, XML_ERROR_UNCLOSED_CDATA_SECTION:
            return mistake.earlyEnd(code)
        case XML_ERROR_SYNTAX where !hasRoot: return mistake.noXML
        case XML_ERROR_SYNTAX, XML_ERROR_INVALID_TOKEN: return mistake.invalidToken
        case XML_ERROR_TAG_MISMATCH:
            return mistake.mismatch
        case XML_ERROR_DUPLICATE_ATTRIBUTE:
            let tag = TagScan(mistake.bytes, to: mistake.offset)
            return mistake.failure(
                "<\(tag?.element ?? "")> has the attribute '\(mistake.name(at: mistake.offset))' more than once")
        case XML_ERROR_JUNK_AFTER_DOC_ELEMENT: return mistake.junk
        case XML_ERROR_BAD_CHAR_REF: return mistake.reference(at: mistake.offset)
        case XML_ERROR_UNDEFINED_ENTITY:
            // For an entity in a tag, expat reports only the tag.
            return mistake.unknownReference ?? mistake.reference(at: mistake.offset)
        case XML_ERROR_RECURSIVE_ENTITY_REF: return mistake.failure("an entity contains itself")
        case XML_ERROR_EXTERNAL_ENTITY_HANDLING, XML_ERROR_ATTRIBUTE_EXTERNAL_ENTITY_REF, XML_ERROR_BINARY_ENTITY_REF:
            return mistake.failure(
                "the entity '&\(mistake.name(at: mistake.offset + 1));' is in another file, which is not read")
        case XML_ERROR_MISPLACED_XML_PI:
            return mistake.failure(
                "'<?xml' may only be at the very start of the file", hint: "remove what stands before it")
        case XML_ERROR_UNKNOWN_ENCODING:
            let encoding = XMLText.declaredEncoding(of: mistake.bytes) ?? "?"
            return mistake.failure(XMLText.unknownEncoding(encoding), hint: XMLText.encodingHint)
        case XML_ERROR_INCORRECT_ENCODING:
            return mistake.failure("the file is not in the encoding that it names", hint: XMLText.encodingHint)
        case XML_ERROR_AMPLIFICATION_LIMIT_BREACH:
            return mistake.failure("the entities of the file make too much text of it")
        default:
            let words = XML_ErrorString(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
            return mistake.failure("the XML is malformed (\(words))")
        }
    }
}

/// A position in a document at which expat stopped.
struct Mistake {
    /// The part of the document around the position (the document may be large), and the offset of that part.
    let bytes: [UInt8]
    private let base: Int
    /// The position as an index of `bytes`.
    let offset: Int
    let line: Int
    let column: Int
    let open: [XMLTag]
    private let hasRoot: Bool
    private let reader: XMLReader

    init(reader: XMLReader) {
        let place = min(max(0, reader.offset), reader.data.count)
        base = max(0, place - 1 << 16)
        bytes = Array(reader.data.dropFirst(base).prefix(1 << 17))
        offset = place - base
        line = max(1, reader.line)
        column = max(1, reader.column)
        open = reader.open
        hasRoot = reader.hasRoot
        self.reader = reader
    }

    private var byte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    func failure(_ message: String, at place: Int? = nil, hint: String? = nil) -> XMLFailure {
        guard let place, place != offset else {
            return XMLFailure(message, line: line, column: column, offset: base + offset, hint: hint)
        }
        let between = bytes[min(place, offset)..<max(place, offset)]
        let lines = between.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
        let lineStart = bytes[..<place].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let characters = bytes[lineStart..<place].reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        return XMLFailure(
            message, line: place < offset ? line - lines : line + lines, column: characters + 1, offset: base + place,
            hint: hint)
    }

    /// Returns the name that begins at a byte; if there is none, the text up to the end of the tag.
    func name(at start: Int) -> String {
        let ends = Set("=/> \t\r\n<;".utf8)
        let end = bytes[min(start, bytes.count)...].prefix(40).prefix { !ends.contains($0) }
        return String(decoding: end, as: UTF8.self)
    }

    private func starts(_ text: StaticString, at place: Int) -> Bool {
        bytes[place...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    // MARK: Kinds of errors

    var noXML: XMLFailure { failure("there is text outside the root element; is it XML?") }

    /// The error for content after the root element.
    var junk: XMLFailure {
        byte == UInt8(ascii: "<") && !starts("</", at: offset)
            ? failure("there is a second root element")
            : failure("something follows the end of the root element")
    }

    /// The error for an end tag that does not match the open element; expat stops at its name.
    var mismatch: XMLFailure {
        let start = offset >= 2 && starts("</", at: offset - 2) ? offset - 2 : offset
        return failure("</\(name(at: start + 2))> ends <\(open.last?.name ?? "")>, which is still open", at: start)
    }

    /// The error for a document that ends inside an element, comment or other construct.
    func earlyEnd(_ code: XML_Error) -> XMLFailure {
        if code == XML_ERROR_PARTIAL_CHAR { return failure("the file ends inside a character") }
        if code == XML_ERROR_NO_ELEMENTS {
            guard let tag = open.last else { return failure("there is no element in the file; is it XML?") }
            return XMLFailure(
                "<\(tag.name)> is never closed", line: tag.line, column: tag.column, offset: tag.offset)
        }
        if starts("<!--", at: offset) { return failure("a comment that starts here has no end") }
        if code == XML_ERROR_UNCLOSED_CDATA_SECTION {
            let start = bytes.indices.reversed().first { starts("<![CDATA[", at: $0) }
            return failure("a CDATA section that starts here has no end", at: start)
        }
        if starts("<!", at: offset) { return failure("a declaration that starts here has no end") }
        if starts("<?", at: offset) { return failure("a processing instruction that starts here has no end") }
        if starts("&", at: offset) { return reference(at: offset) }
        if let tag = TagScan(bytes, to: bytes.count), case .value(let attribute, let start) = tag.part {
            return unendedValue(of: attribute, in: tag.element, at: start)
        }
        return failure("a tag that starts here has no '>'")
    }

    private func unendedValue(of attribute: String, in element: String, at start: Int) -> XMLFailure {
        failure("the value of the attribute '\(attribute)' of <\(element)> has no end", at: start)
    }

    /// The error for a malformed reference, or one to an undeclared entity.
    func reference(at start: Int) -> XMLFailure {
        let name = bytes[min(start + 1, bytes.count)...].prefix(40).prefix(while: Self.isNameByte)
        let end = start + 1 + name.count
        guard !name.isEmpty, end < bytes.count, bytes[end] == UInt8(ascii: ";") else {
            return failure("'&' must be written as '&amp;'", at: start)
        }
        return failure(Self.unknownEntity(String(decoding: name, as: UTF8.self)), at: start)
    }

    /// The error for the first reference from this position on to an undeclared entity.
    var unknownReference: XMLFailure? {
        reader.unknownReference(in: bytes[offset...]).map { failure(Self.unknownEntity($0.name), at: $0.place) }
    }

    static func unknownEntity(_ name: String) -> String {
        "'&\(name.prefix(40));' is not known; '&' must be written as '&amp;'"
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "#") || TagScan.isNameByte(byte)
    }

    /// The error for a character that is not allowed at its position.
    var invalidToken: XMLFailure {
        guard let byte else { return failure("the file ends too early") }
        if let bad = badCharacter(byte) { return bad }
        let name = bytes[..<offset].suffix(40).reversed().prefix(while: Self.isNameByte)
        let ampersand = offset - name.count - 1
        if ampersand >= 0, bytes[ampersand] == UInt8(ascii: "&") { return reference(at: ampersand) }
        if offset >= 2, starts("]]>", at: offset - 2) || starts("]]>", at: offset) {
            return failure("']]>' must be written as ']]&gt;'")
        }
        if let comment = commentMistake { return comment }
        return TagScan(bytes, to: offset).flatMap(inTag)
            ?? (open.isEmpty ? noXML : failure("\(shown(at: offset)) makes no sense here"))
    }

    private func badCharacter(_ byte: UInt8) -> XMLFailure? {
        if byte < 0x20, !TagScan.isSpace(byte) {
            if !hasRoot { return noXML }
            let digits = String(byte, radix: 16, uppercase: true)
            return failure("the character U+00\(byte < 16 ? "0" : "")\(digits) is not allowed in XML")
        }
        guard byte >= 0x80 else { return nil }
        if bytes[offset...].starts(with: [0xEF, 0xBF]), offset + 2 < bytes.count, bytes[offset + 2] >= 0xBE {
            return failure("the character U+FFF\(bytes[offset + 2] == 0xBE ? "E" : "F") is not allowed in XML")
        }
        guard String(validating: bytes[offset...].prefix(4).prefix(Self.length(byte)), as: UTF8.self) == nil else {
            return nil
        }
        return failure("the text is not UTF-8", hint: XMLText.encodingHint)
    }

    private static func length(_ lead: UInt8) -> Int { lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1 }

    /// The error for `--` inside a comment.
    private var commentMistake: XMLFailure? {
        guard offset >= 2, starts("--", at: offset - 2) || starts("--", at: offset) else { return nil }
        guard let start = bytes[..<(offset - 1)].indices.reversed().first(where: { starts("<!--", at: $0) })
        else { return nil }
        // The dashes may belong to a comment that begins inside this comment.
        let content = bytes[(start + 4)..<max(start + 4, offset - 1)]
        return content.contains(UInt8(ascii: ">")) ? nil : failure("'--' may not be inside a comment")
    }

    private func inTag(_ tag: TagScan) -> XMLFailure? {
        switch tag.part {
        case .outside: return nil
        case .element:
            if byte == UInt8(ascii: "/"), open.isEmpty { return failure("</\(name(at: offset + 1))> has no start") }
            return tag.element.isEmpty
                ? failure("the name of an element should be here instead of \(shown(at: offset))")
                : failure("\(shown(at: offset)) is no part of a name")
        case .space:
            return failure(
                "the name of an attribute of <\(tag.element)> should be here instead of \(shown(at: offset))")
        case .attribute(let name):
            return failure("the attribute '\(name)' of <\(tag.element)> has no value")
        case .equals(let name):
            return failure("the value of the attribute '\(name)' of <\(tag.element)> must stand in quotes")
        case .value(let name, let start):
            return unendedValue(of: name, in: tag.element, at: start)
        case .afterValue(let name):
            return failure("a space is missing after the value of the attribute '\(name)' of <\(tag.element)>")
        }
    }

    /// Returns a short description of the byte at the position.
    private func shown(at place: Int) -> String {
        let text = String(decoding: bytes[place...].prefix(80), as: UTF8.self)
        return "'\(text.prefix { !$0.isWhitespace && $0 != ">" && $0 != "<" && $0 != "/" }.prefix(20))'"
    }
}
