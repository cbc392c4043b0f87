import Foundation
import SwiftData

@Model public final class Item {
    public var name: String?
    public var listed = true
    public var unit: Unit?

    public init(name: String) { self.name = name }
}

@Model public final class Unit {
    public var name: String?
    @Relationship(deleteRule: .deny, inverse: \Item.unit) public var items: [Item]?

    public init(name: String) { self.name = name }
}

public func addMilk(to container: ModelContainer) throws -> [String] {
    let context = ModelContext(container)
    context.insert(Item(name: "Milk"))
    try context.save()  // INSERT INTO ZITEM …
    let request = FetchDescriptor<Item>(
        predicate: #Predicate { $0.name?.starts(with: "M") == true }, sortBy: [SortDescriptor(\.name)])
    return try context.fetch(request).compactMap(\.name)  // SELECT … FROM ZITEM t0 WHERE … ORDER BY t0.ZNAME
}
