import CoreData
import Foundation

/// The values of a model: its own ones before it is inserted, those of a managed object afterwards.
///
/// The accessors that the macro writes read and write by ``_ModelKey`` and the property's place in its class.
public struct DefaultBackingData<Model: PersistentModel>: BackingData {
    /// The object, once the model is inserted.
    @usableFromInline private(set) var object: ModelObject?
    /// With an object the context, which lives as long as its models; else ``PendingValues``, or nil before the first value. Never anything else:
    /// nobody asks the runtime for its class.
    @usableFromInline private(set) var holder: AnyObject?
    let level: Model.Type

    /// The values of a new model.
    public init(for type: Model.Type) {
        level = type
        if ArrivingModel.take(type) { holder = PendingValues.discarded }
    }

    /// The values of other backing data: the same object, or the same values.
    public init(adopting other: any BackingData<Model>) {
        level = Model.self
        object = other._object
        if object != nil {
            holder = other._context
        } else {
            let pending = other._pending ?? PendingValues(Model.self)
            if !pending.isOfWholeModel { pending.shareByName() }
            holder = pending
        }
    }

    /// Takes other backing data for a level of a subclass, whose own values move to it.
    public mutating func _adopt(_ other: any BackingData<Model>) {
        let own = _pending
        let level = level
        self = DefaultBackingData(adopting: other)
        guard let own, let pending = _pending, own !== pending else { return }
        self = DefaultBackingData(level: level, pending)
        pending.take(own)
    }

    private init(level: Model.Type, _ pending: PendingValues) {
        self.level = level
        holder = pending
    }

    /// The values of an object.
    init(_ object: ModelObject, _ context: ModelContext, _ type: Model.Type) {
        self.object = object
        holder = context
        level = type
    }

    /// From now on the values are the object's; the context takes those of the model, to set them there.
    public mutating func _attach(_ object: ModelObject) {
        guard let context = (object.managedObjectContext as? ModelObjectContext)?.modelContext else { return }
        if let pending = _pending { context.take(pending) }
        self.object = object
        holder = context
    }

    public var _object: ModelObject? { object }
    public var _pending: PendingValues? {
        object == nil ? holder.map { unsafeDowncast($0, to: PendingValues.self) } : nil
    }
    public var _context: ModelContext? {
        object == nil ? nil : holder.map { unsafeDowncast($0, to: ModelContext.self) }
    }
    public var metadata: Any { Model.schemaMetadata }

    /// The identifier of the row; it cannot be set.
    public var persistentModelID: PersistentIdentifier? {
        get { object.map { PersistentIdentifier($0.permanentID) } }
        set {}
    }

    /// The values of a new model, made when the first is set.
    @usableFromInline
    mutating func madePending() -> PendingValues {
        if let pending = _pending { return pending }
        let made = PendingValues(level)
        holder = made
        return made
    }

    /// The values of a new model; where no initial value has made them, they are given to it.
    ///
    /// The model is asked, since a setter must not change this backing data, which an insertion replaces meanwhile.
    func pending(of model: Model) -> PendingValues {
        if let pending = _pending { return pending }
        let made = PendingValues(level)
        made.isOfWholeModel = Swift.type(of: model) == Model.self
        var backing = self
        backing.holder = made
        model.persistentBackingData = backing
        return made
    }
}
