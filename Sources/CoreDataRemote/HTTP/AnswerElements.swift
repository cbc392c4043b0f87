import CoreDataXML
import Foundation

/// Extracts the texts of a small XML response, by the names of elements without their prefixes.
package struct AnswerElements {
    /// By name, the texts of an element's descendants.
    package typealias Texts = [String: String]

    /// Returns the texts below each element with the name.
    ///
    /// - Throws: an error if the data is not XML, or ends too early.
    package static func texts(below name: String, in data: Data) throws -> [Texts] {
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
