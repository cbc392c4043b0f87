import CoreData
import Foundation

/// Gives objects small pictures of their large ones, in the background and a few at a time.
///
///     let thumbnailer = try Thumbnailer(
///         stack, entity: "Item", picture: "photo.data", thumbnail: "thumbnail", scaler: SystemImageScaler())
///     try await thumbnailer.run { progress in print(progress.count) }
///
/// Looks for objects that have a picture and no small one, so that it can be run whenever pictures may have come. Memory holds one
/// large picture at a time.
public struct Thumbnailer: Sendable {
    /// How many small pictures are saved at once.
    public var batchSize = 15
    /// The size into which a small picture fits.
    public var size = (width: 66, height: 66)

    private let stack: CoreDataStack
    private let entity: String
    private let picture: String
    private let thumbnail: String
    private let scale: @Sendable (_ image: Data, _ width: Int, _ height: Int) throws -> Data

    /// What was done.
    public struct Summary: Sendable {
        /// How many objects got a small picture.
        public var made = 0
        /// Why objects got none; they are tried again the next time.
        public var failures: [(object: NSManagedObjectID, message: String)] = []
    }

    /// Makes small pictures for the objects of an entity.
    ///
    /// - Parameters:
    ///   - picture: the key path to the large picture, through to-one relationships: `photo.data`.
    ///   - thumbnail: the binary attribute for the small one.
    /// - Throws: a ``ToolkitError`` where the model has no such entity or attributes.
    public init(
        _ stack: CoreDataStack, entity: String, picture: String, thumbnail: String, scaler: any ImageScaler
    ) throws {
        try self.init(stack, entity: entity, picture: picture, thumbnail: thumbnail) { image, width, height in
            try scaler.thumbnail(of: image, width: width, height: height)
        }
    }

    /// Makes small pictures with a closure.
    public init(
        _ stack: CoreDataStack, entity: String, picture: String, thumbnail: String,
        scale: @escaping @Sendable (_ image: Data, _ width: Int, _ height: Int) throws -> Data
    ) throws {
        let description = try stack.model.entity(called: entity)
        for name in [picture, thumbnail] {
            let path = try PropertyPath(name, of: description)
            guard path.attribute?.attributeType == .binaryDataAttributeType, !path.steps.contains(where: \.isToMany)
            else {
                throw ToolkitError("\(entity).\(name) is no binary attribute that to-one relationships lead to.")
            }
        }
        guard description.attributesByName[thumbnail] != nil else {
            throw ToolkitError("\(entity).\(thumbnail) must be an attribute of \(entity) itself.")
        }
        self.stack = stack
        self.entity = description.name ?? entity
        self.picture = picture
        self.thumbnail = thumbnail
        self.scale = scale
    }

    /// Goes through all objects that have a picture and no small one.
    ///
    /// - Parameter progress: told after each batch.
    /// - Throws: what fetching and saving throw; `CancellationError` after the task was cancelled. Pictures that cannot be
    ///   scaled are listed in the summary, and the others go on.
    @discardableResult
    public func run(
        isolation: isolated (any Actor)? = #isolation, progress: ProgressHandler? = nil
    ) async throws -> Summary {
        let result: Result<Summary, any Error>
        do {
            result = .success(try await BackgroundWork.run { cancellation in try makeAll(cancellation, progress) })
        } catch { result = .failure(error) }
        await stack.mergeNow()
        return try result.get()
    }

    private func makeAll(
        _ cancellation: BackgroundWork.Cancellation, _ progress: ProgressHandler?
    ) throws -> Summary {
        let context = stack.newImportContext()
        var summary = Summary()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
            request.resultType = .managedObjectIDResultType
            request.predicate = NSPredicate(
                format: "%K == nil AND %K != nil", argumentArray: [thumbnail, picture])
            request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            let ids = try context.fetch(request)
            for start in stride(from: 0, to: ids.count, by: max(1, batchSize)) {
                for id in ids[start..<min(start + max(1, batchSize), ids.count)] {
                    try cancellation.check()
                    do { summary.made += try make(id, in: context) ? 1 : 0 } catch {
                        summary.failures.append((id, ErrorMessage.text(of: error)))
                    }
                }
                if context.hasChanges { try context.save() }
                context.reset()
                progress?(
                    ToolkitProgress(
                        fractionCompleted: Double(min(start + max(1, batchSize), ids.count)) / Double(ids.count),
                        count: summary.made))
            }
        }
        return summary
    }

    /// - Returns: whether there was something to do still.
    private func make(_ id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Bool {
        // Somebody may have deleted it meanwhile.
        guard let object = try? context.existingObject(with: id) else { return false }
        defer { letGo(object, in: context) }
        guard object.value(forKey: thumbnail) == nil, let image = object.value(forKeyPath: picture) as? Data else {
            return false
        }
        object.setValue(try scale(image, size.width, size.height), forKey: thumbnail)
        return true
    }

    /// The large picture need not stay in memory until the batch is saved.
    private func letGo(_ object: NSManagedObject, in context: NSManagedObjectContext) {
        var owner: NSManagedObject? = object
        for name in picture.split(separator: ".").dropLast() {
            owner = owner?.value(forKey: String(name)) as? NSManagedObject
        }
        if let owner, !owner.hasChanges { context.refresh(owner, mergeChanges: false) }
    }
}
