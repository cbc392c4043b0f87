import CoreData

public final class Tag: NSManagedObject {
    @NSManaged public var label: String
    @NSManaged public var notes: NSSet?

    #if DEBUG
        @NSManaged var primitiveLabel: String?
    #endif
}

/// How a note looks.
public struct Style: Codable, Hashable, Sendable {
    public var font: String
    public var size: Int

    public init(font: String, size: Int) {
        self.font = font
        self.size = size
    }
}
