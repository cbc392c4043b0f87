import Foundation

/// The entities by which requests select transactions and changes.
enum HistoryModel {
    nonisolated(unsafe) static let transaction = entities.transaction  // Safe because the model is frozen.
    nonisolated(unsafe) static let change = entities.change  // Safe because the model is frozen.

    private nonisolated(unsafe) static let entities = make()  // Safe because the model is frozen.

    private static func make() -> (
        model: NSManagedObjectModel, transaction: NSEntityDescription, change: NSEntityDescription
    ) {
        let transaction = entity(
            "TRANSACTION",
            [
                ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
                ("contextName", .stringAttributeType), ("processID", .stringAttributeType),
                ("timestamp", .dateAttributeType), ("token", .integer64AttributeType),
                ("transactionNumber", .integer64AttributeType),
            ])
        let change = entity(
            "CHANGE",
            [
                ("changeID", .integer64AttributeType), ("changeType", .integer64AttributeType),
                ("changedEntity", .integer64AttributeType), ("changedObjectID", .integer64AttributeType),
                ("columns", .binaryDataAttributeType),
            ])
        let changes = NSRelationshipDescription()
        changes.name = "changes"
        changes.destinationEntity = change
        let owner = NSRelationshipDescription()
        owner.name = "transaction"
        owner.destinationEntity = transaction
        owner.maxCount = 1
        changes.inverseRelationship = owner
        owner.inverseRelationship = changes
        transaction.properties += [changes]
        change.properties += [owner]
        let model = NSManagedObjectModel()
        model.entities = [transaction, change]
        _ = try? model.freeze()
        return (model, transaction, change)
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        return entity
    }

    static func request(_ entity: NSEntityDescription) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }
}
