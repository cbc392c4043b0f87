import CoreDataModel
import Foundation

/// How a single description is archived: its document element as a property list under one key.
enum ModelCoding {
    private static let key = "OpenCoreDataElement"

    static func encode(_ element: some Encodable, with coder: NSCoder) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let data = try? encoder.encode(element) else { return }
        coder.encode(data as NSData, forKey: key)
    }

    static func decode<Element: Decodable>(_ type: Element.Type, from coder: NSCoder) -> Element? {
        guard let data = coder.decodeObject(of: NSData.self, forKey: key) else { return nil }
        // Foundation's decoder stops the program at a list that is nested deep; this reader bounds it.
        guard (try? PropertyListValue(propertyList: data as Data)) != nil else { return nil }
        return try? PropertyListDecoder().decode(type, from: data as Data)
    }
}
