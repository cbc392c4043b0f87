import CoreData
import NotebookKinds

/// A note; `Checklist` is a kind of it.
open class Note: NSManagedObject {
    @NSManaged public var title: String?
    @NSManaged public var body: String?
    @NSManaged public private(set) var created: Date
    @NSManaged public var identifier: UUID?

    @NSManaged
    public var source: URL?

    @NSManaged open var attachment: Data?
    @NSManaged public var rating: Int16
    @NSManaged public var views: Int32, length: Int64
    @NSManaged public var progress: Double
    @NSManaged public final var weight: Float
    @NSManaged open var isPinned: Bool

    @NSManaged public var folder: Folder?
    @NSManaged public var tags: Set<Tag>

    open override func awakeFromInsert() {
        super.awakeFromInsert()
        primitiveCreated = Date(timeIntervalSinceReferenceDate: 1000)
        primitiveTitle = "Untitled"
    }

    @NSManaged private var primitiveCreated: Date
    @NSManaged private var primitiveTitle: String?
    @NSManaged fileprivate var secret: String?

    /// Stored reversed, so that it cannot be read over a shoulder.
    public var whispered: String? {
        get { secret.map { String($0.reversed()) } }
        set { secret = newValue.map { String($0.reversed()) } }
    }
}

extension Note {
    /// A typealias of the app's own.
    public typealias Links = [String: String]

    /// Where a note was written.
    public struct Place: Codable, Hashable, Sendable {
        public var name: String
        public var latitude: Double

        public init(name: String, latitude: Double) {
            self.name = name
            self.latitude = latitude
        }
    }

    @NSManaged public var mood: Mood
    @NSManaged public var status: Workflow.Status?
    @NSManaged public var keywords: [String]
    @NSManaged public var links: Links?
    @NSManaged public var place: Place?
    @NSManaged public var style: Style?
    @NSManaged public var sticker: Sticker?
    @NSManaged public var cost: Decimal?
    @NSManaged public var fee: NSDecimalNumber?
    @NSManaged public var reminders: NSNumber?
}

extension Note {
    @NSManaged public func addToTags(_ value: Tag)

    @NSManaged public func removeFromTags(_ value: Tag)

    @NSManaged public func addToTags(_ values: NSSet)

    @NSManaged public func removeFromTags(_ values: NSSet)

    public class func fetchRequest() -> NSFetchRequest<Note> { NSFetchRequest(entityName: "Note") }
}

/// A note that can be finished; it counts how often it is pinned.
public final class Checklist: Note {
    @NSManaged public var isFinished: Bool
    public private(set) var timesPinned = 0

    public override var isPinned: Bool {
        get { isFinished || super.isPinned }
        set {
            timesPinned += 1
            super.isPinned = newValue
        }
    }
}
