import CoreData
import Foundation

/// A file that a device left for others.
final class StoredFile: NSManagedObject {
    private static let groupIDProperty = PropertyKey<UUID?>("groupID")
    private static let folderProperty = PropertyKey<String?>("folder")
    private static let nameProperty = PropertyKey<String?>("name")
    private static let accountIDProperty = PropertyKey<UUID?>("accountID")
    private static let createdAtProperty = PropertyKey<Date?>("createdAt")
    private static let sizeProperty = PropertyKey<Int64>("size")
    private static let dataProperty = PropertyKey<Data?>("data")
    private static let groupProperty = PropertyKey<StoredGroup?>("group")

    /// The group again: uniqueness constraints are made of attributes.
    var groupID: UUID? {
        get { self[Self.groupIDProperty] }
        set { self[Self.groupIDProperty] = newValue }
    }
    var folder: String? {
        get { self[Self.folderProperty] }
        set { self[Self.folderProperty] = newValue }
    }
    var name: String? {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var accountID: UUID? {
        get { self[Self.accountIDProperty] }
        set { self[Self.accountIDProperty] = newValue }
    }
    var createdAt: Date? {
        get { self[Self.createdAtProperty] }
        set { self[Self.createdAtProperty] = newValue }
    }
    var size: Int64 {
        get { self[Self.sizeProperty] }
        set { self[Self.sizeProperty] = newValue }
    }
    var data: Data? {
        get { self[Self.dataProperty] }
        set { self[Self.dataProperty] = newValue }
    }
    var group: StoredGroup? {
        get { self[Self.groupProperty] }
        set { self[Self.groupProperty] = newValue }
    }
}

extension AccountsModel {
    static var file: ModelEntity {
        ModelEntity("File", class: StoredFile.self) {
            ModelAttribute("groupID", .uuid).required()
            ModelAttribute("folder", .string).required()
            ModelAttribute("name", .string).required()
            ModelAttribute("accountID", .uuid).required()
            ModelAttribute("createdAt", .date).required()
            ModelAttribute("size", .integer64, default: 0).required()
            ModelAttribute("data", .binaryData).required().storedExternally()
            ModelRelationship("group", to: "Group", inverse: "files").required()
            ModelConstraint("groupID", "folder", "name")
        }
    }
}
