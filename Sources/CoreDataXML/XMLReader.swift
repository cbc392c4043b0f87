import CExpat
import Foundation

/// Reads XML event by event, with expat. It parses the document in pieces and keeps only one piece of events in memory.
///
///     let reader = try XMLReader(data)
///     while let event = try reader.next() { … }
///
/// The document may be UTF-8, UTF-16, ISO-8859-1 or US-ASCII. For any input, `next()` returns or throws. The reader
/// reads nothing outside the document, rejects entities that contain other entities, and limits nesting to ``deepest``
/// elements.
package final class XMLReader {
    /// The maximum depth. A deeper document is an attack or a mistake, and callers may process the elements
    /// recursively.
    package static let deepest = 256
    private static let pieceSize = 1 << 16

    let data: Data
    let parser: OpaquePointer
    /// The open elements, outermost first.
    private(set) var open: [XMLTag] = []
    private(set) var hasRoot = false
    private var hasDocumentType = false
    private var declaredEntities: Set<String> = []

    /// The number of bytes that expat has parsed, and the number of bytes in the next piece.
    private var fed = 0
    private var piece = pieceSize
    private var events: [XMLEvent] = []
    private var position = 0
    private var text: [UInt8] = []
    /// The error to throw after the events before it.
    private var failure: XMLFailure?
    private var isFinished = false

    /// - Parameter isUTF8: whether to read the bytes as UTF-8, even if the document declares another encoding.
    package init(_ data: Data, isUTF8: Bool = false) throws(XMLFailure) {
        guard let parser = XML_ParserCreate(isUTF8 ? "UTF-8" : nil) else { throw XMLFailure("there is no memory left") }
        self.data = data
        self.parser = parser
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        setHandlers()
    }

    deinit { XML_ParserFree(parser) }

    /// Returns the next event; `nil` after the end of the root element.
    package func next() throws(XMLFailure) -> XMLEvent? {
        while position == events.count {
            if let failure { throw failure }
            if isFinished { return nil }
            parsePiece()
        }
        defer { position += 1 }
        return events[position]
    }

    /// The part of the document that was parsed, from 0 to 1.
    package var fractionRead: Double { data.isEmpty ? 1 : Double(fed) / Double(data.count) }

    private func parsePiece() {
        events.removeAll(keepingCapacity: true)
        position = 0
        let end = min(data.count, fed + piece)
        let isLast = end == data.count
        let status = data.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[fed..<end]).assumingMemoryBound(to: CChar.self)
            return XML_Parse(parser, part.baseAddress, Int32(part.count), isLast ? 1 : 0)
        }
        fed = end
        isFinished = isLast
        endText()
        if status == XML_STATUS_ERROR, failure == nil { failure = explanation(of: XML_GetErrorCode(parser)) }
        // Expat scans a tag that is longer than the piece again for each piece. Larger pieces limit the total cost.
        piece = events.isEmpty ? min(piece * 2, 1 << 28) : Self.pieceSize
    }

    // MARK: Events from expat

    private func setHandlers() {
        XML_SetElementHandler(
            parser, { XMLReader.of($0).startElement($1, $2) }, { XMLReader.of($0).endElement($1) })
        XML_SetCharacterDataHandler(parser) { XMLReader.of($0).addText($1, count: Int($2)) }
        XML_SetCommentHandler(parser) { context, _ in XMLReader.of(context).addComment() }
        XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in XMLReader.of(context).hasDocumentType = true }
        XML_SetEntityDeclHandler(parser) { context, name, isParameter, value, count, _, _, _, _ in
            guard isParameter == 0, let value else { return }
            XMLReader.of(context).declareEntity(
                name, UnsafeRawBufferPointer(start: value, count: Int(count)))
        }
        XML_SetSkippedEntityHandler(parser) { context, name, isParameter in
            guard isParameter == 0, let name else { return }
            XMLReader.of(context).stop(Mistake.unknownEntity(String(cString: name)))
        }
        // Never read anything outside the document; a reference to it is an error, not an empty text.
        XML_SetExternalEntityRefHandler(parser) { _, _, _, _, _ in Int32(XML_STATUS_ERROR.rawValue) }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> XMLReader {
        guard let context else { preconditionFailure("expat forgot whom it reads for") }
        return Unmanaged<XMLReader>.fromOpaque(context).takeUnretainedValue()
    }

    private func startElement(
        _ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        guard failure == nil, let name else { return }
        endText()
        var tag = XMLTag(name: String(cString: name), attributes: [], line: line, column: column, offset: offset)
        var next = attributes
        while let pair = next, let name = pair[0], let value = pair[1] {
            tag.attributes.append((String(cString: name), String(cString: value)))
            next = pair + 2
        }
        guard open.count < Self.deepest else {
            return stop("the elements are nested more than \(Self.deepest) deep")
        }
        // If the document has a type declaration, expat treats an undeclared entity in a tag as one of another file.
        if hasDocumentType, tagHasUnknownReference, let mistake = Mistake(reader: self).unknownReference {
            return stop(mistake)
        }
        hasRoot = true
        events.append(.start(tag))
        // Keep the tag to report its position if the element is never closed.
        tag.attributes = []
        open.append(tag)
    }

    private func endElement(_ name: UnsafePointer<CChar>?) {
        guard failure == nil, let tag = open.popLast() else { return }
        endText()
        events.append(.end(name: tag.name))
    }

    private func addText(_ characters: UnsafePointer<CChar>?, count: Int) {
        guard failure == nil else { return }
        text.append(contentsOf: UnsafeRawBufferPointer(start: characters, count: count))
    }

    private func endText() {
        guard !text.isEmpty else { return }
        events.append(.text(String(decoding: text, as: UTF8.self)))
        text.removeAll(keepingCapacity: true)
    }

    private func addComment() {
        guard failure == nil else { return }
        endText()
        events.append(.comment(offset: offset))
    }

    // MARK: Entities

    /// Whether expat limits the expansion of entities; it does so since this version.
    private static let boundsExpansion: Bool = {
        let version = XML_ExpatVersionInfo()
        return (version.major, version.minor) >= (2, 4)
    }()

    private func declareEntity(_ characters: UnsafePointer<CChar>?, _ value: UnsafeRawBufferPointer) {
        guard failure == nil, let characters else { return }
        let name = String(cString: characters)
        // Nested entities expand small documents to large and deep ones.
        let isPlain = value.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).dropFirst()
            .allSatisfy { Self.predefinedEntities.contains(String(decoding: $0.prefix { $0 != 0x3B }, as: UTF8.self)) }
        if !isPlain {
            stop("the entity '\(name)' contains another entity, which is not supported")
        } else if !Self.boundsExpansion {
            stop("the document declares the entity '\(name)', which needs expat 2.4 or later")
        }
        declaredEntities.insert(name)
    }

    static let predefinedEntities: Set<String> = ["amp", "lt", "gt", "quot", "apos"]

    // MARK: Positions

    var line: Int { Int(XML_GetCurrentLineNumber(parser)) }
    var column: Int { Int(XML_GetCurrentColumnNumber(parser)) + 1 }
    var offset: Int { Int(XML_GetCurrentByteIndex(parser)) }
    private var tagLength: Int { Int(XML_GetCurrentByteCount(parser)) }

    /// Whether the tag has an undeclared reference. Most tags have no reference at all, and are not scanned further.
    private var tagHasUnknownReference: Bool {
        let (start, count) = (max(0, offset), tagLength)
        return data.withUnsafeBytes { bytes in
            guard let all = bytes.baseAddress, start < bytes.count else { return false }
            let end = min(start + count, bytes.count)
            guard memchr(all + start, Int32(UInt8(ascii: "&")), end - start) != nil else { return false }
            return unknownReference(in: bytes[start..<end]) != nil
        }
    }

    /// Finds the first reference in the bytes to an undeclared entity.
    func unknownReference<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes) -> (name: String, place: Int)?
    where Bytes.Index == Int {
        for start in bytes.indices where bytes[start] == UInt8(ascii: "&") {
            // In UTF-16 every other byte of a name is zero.
            let name = bytes[(start + 1)...].prefix(256).prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0 }
            if name.first == UInt8(ascii: "#") { continue }
            let text = String(decoding: name, as: UTF8.self)
            guard declaredEntities.contains(text) || Self.predefinedEntities.contains(text) else {
                return (text, start)
            }
        }
        return nil
    }

    private func stop(_ message: String) {
        stop(XMLFailure(message, line: line, column: column, offset: max(0, offset)))
    }

    private func stop(_ failure: XMLFailure) {
        guard self.failure == nil else { return }
        self.failure = failure
        XML_StopParser(parser, 0)
    }
}
