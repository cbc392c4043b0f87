import CoreData
import Foundation

/// The values of a model: its own before it is inserted, those of a managed object afterwards.
///
/// The macro's accessors read and write by ``_ModelKey`` and the property's position in its class.
public struct DefaultBackingData<Model: PersistentModel>: BackingData {
    /// The object, once the model is inserted.
    @usableFromInline var object: ModelObject?
    /// With an object, the context, which lives as long as its models; else ``PendingValues``, or nil before the first
    /// value. No other class occurs, so the dynamic type is never checked.
    @usableFromInline var holder: AnyObject?
    /// The class of the hierarchy whose properties these are; `nil` while a model is made for an object, whose initial
    /// values are not kept.
    @usableFromInline let keptLevel: Model.Type?
    var level: Model.Type { keptLevel ?? Model.self }

    /// The values of a new model.
    public init(for type: Model.Type) { keptLevel = ModelUnderConstruction.take(type) ? nil : type }

    /// The values of other backing data: the same object, or the same values.
    public init(adopting other: __shared any BackingData<Model>) {
        keptLevel = Model.self
        object = other._object
        if object != nil {
            holder = other._context
        } else {
            let pending = other._pending ?? PendingValues(Model.self)
            if !pending.isOfWholeModel { pending.shareByName() }
            holder = pending
        }
    }

    /// Takes over other backing data for a level of a subclass, whose own values move to it.
    public mutating func _adopt(_ other: any BackingData<Model>) {
        let own = _pending
        let level = level
        self = DefaultBackingData(adopting: other)
        guard let own, let pending = _pending, own !== pending else { return }
        self = DefaultBackingData(level: level, pending)
        pending.take(own)
    }

    private init(level: Model.Type, _ pending: PendingValues) {
        keptLevel = level
        holder = pending
    }

    /// The values of an object.
    @inlinable
    public init(_object object: ModelObject, _ context: ModelContext) {
        self.object = object
        holder = context
        keptLevel = Model.self
    }

    /// Switches to the object's values; the context takes the model's values and sets them there.
    public mutating func _attach(_ object: ModelObject, _ context: ModelContext) {
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

    /// Returns the values of a new model, made if no initial value has made them.
    ///
    /// The values are set through the model, since a setter must not change this backing data, which an insertion
    /// replaces meanwhile.
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
