import CoreData
import Foundation

/// Makes thumbnails of objects' pictures, in the background and in small batches.
///
///     let thumbnailer = try Thumbnailer(
///         stack, entity: "Item", picture: "photo.data", thumbnail: "thumbnail", scaler: SystemImageScaler())
///     try await thumbnailer.run { progress in print(progress.count) }
///
/// It processes objects that have a picture but no thumbnail, so it can be run whenever pictures may have been added.
/// Memory contains one large picture at a time.
public struct Thumbnailer: Sendable {
    /// The number of thumbnails per save.
    public var batchSize = 15
    /// The size into which a thumbnail fits.
    public var size = (width: 66, height: 66)

    private let stack: CoreDataStack
    private let entity: String
    private let picture: String
    private let thumbnail: String
    private let scale: @Sendable (_ image: Data, _ width: Int, _ height: Int) throws -> Data

    /// The result of a run.
    public struct Summary: Sendable {
        /// The number of objects that got a thumbnail.
        public var made = 0
        /// The objects without a thumbnail, with the reason; the next run tries them again.
        public var failures: [(object: NSManagedObjectID, message: String)] = []
    }

    /// Makes thumbnails for the objects of an entity.
    ///
    /// - Parameters:
    ///   - picture: the key path of the picture, through to-one relationships: `photo.data`.
    ///   - thumbnail: the binary attribute for the thumbnail.
    /// - Throws: a ``ToolkitError`` if the model has no such entity or attributes.
    public init(
        _ stack: CoreDataStack, entity: String, picture: String, thumbnail: String, scaler: any ImageScaler
    ) throws {
        try self.init(stack, entity: entity, picture: picture, thumbnail: thumbnail) { image, width, height in
            try scaler.thumbnail(of: image, width: width, height: height)
        }
    }

    /// Makes thumbnails with a closure.
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

    /// Processes all objects that have a picture but no thumbnail.
    ///
    /// - Parameter progress: called after each batch.
    /// - Throws: the errors of fetching and saving; `CancellationError` after the task was cancelled. Pictures that
    ///   cannot be scaled are listed in the summary, and the run continues.
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

    /// - Returns: whether the object still needed a thumbnail.
    private func make(_ id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Bool {
        // Another context may have deleted it meanwhile.
        guard let object = try? context.existingObject(with: id) else { return false }
        defer { releasePicture(object, in: context) }
        guard object.value(forKey: thumbnail) == nil, let image = object.value(forKeyPath: picture) as? Data else {
            return false
        }
        object.setValue(try scale(image, size.width, size.height), forKey: thumbnail)
        return true
    }

    /// Releases the large picture, which need not stay in memory until the batch is saved.
    private func releasePicture(_ object: NSManagedObject, in context: NSManagedObjectContext) {
        var owner: NSManagedObject? = object
        for name in picture.split(separator: ".").dropLast() {
            owner = owner?.value(forKey: String(name)) as? NSManagedObject
        }
        if let owner, !owner.hasChanges { context.refresh(owner, mergeChanges: false) }
    }
}
