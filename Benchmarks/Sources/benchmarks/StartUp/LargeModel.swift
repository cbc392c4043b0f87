import CoreData
import Measuring

/// A model of many entities without relationships, half of the attributes numbers, half texts.
enum LargeModel {
    static let firstEntity = entityName(0)

    static func make() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = (0..<StartUpResult.entities).map { number in
            let entity = NSEntityDescription()
            entity.name = entityName(number)
            entity.properties = (0..<StartUpResult.attributes).map { position in
                let attribute = NSAttributeDescription()
                attribute.name = attributeName(position)
                attribute.attributeType = isNumber(position) ? .integer64AttributeType : .stringAttributeType
                return attribute
            }
            return entity
        }
        return model
    }

    static func isNumber(_ position: Int) -> Bool { position % 2 == 0 }

    static func attributeName(_ position: Int) -> String { "attribute\(position)" }

    /// What plain C calls ask for instead of the first fetch.
    static var firstFetch: String {
        let columns = (0..<StartUpResult.attributes).map { attributeName($0).uppercased() }
        return "SELECT Z_PK, Z_ENT, Z_OPT, Z" + columns.joined(separator: ", Z") + " FROM Z"
            + firstEntity.uppercased() + " LIMIT \(StartUpResult.fetched)"
    }

    private static func entityName(_ number: Int) -> String { "Entity" + String(1000 + number).dropFirst() }
}
