import CoreDataXML
import Foundation

/// Texts of an XML answer: small, by the names of elements without their prefixes.
struct AnswerElements {
    /// By name: the texts of an element's children, and of theirs.
    typealias Texts = [String: String]

    /// The texts below each element of that name.
    ///
    /// - Throws: where it is no XML, or ends too early.
    static func texts(below name: String, in data: Data) throws -> [Texts] {
        let reader = try XMLReader(data)
        var all: [Texts] = []
        var path: [String] = []
        var current: Texts?
        var text = ""
        while let event = try reader.next() {
            switch event {
            case .start(let tag):
                let local = plain(tag.name)
                path.append(local)
                text = ""
                if local == name, current == nil {
                    current = [:]
                } else if current?[local] == nil {
                    current?[local] = ""
                }
            case .text(let piece): text += piece
            case .comment: break
            case .end:
                let local = path.popLast() ?? ""
                if local == name, !path.contains(name) {
                    if let found = current { all.append(found) }
                    current = nil
                } else if !text.isEmpty, current?[local]?.isEmpty == true {
                    current?[local] = text
                }
                text = ""
            }
        }
        return all
    }

    private static func plain(_ name: String) -> String { name.split(separator: ":").last.map(String.init) ?? name }
}
