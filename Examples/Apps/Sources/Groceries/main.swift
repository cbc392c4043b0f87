import CoreData

// `Groceries.xcdatamodeld` lies in the target's folder; class `Item` is generated from it.
let container = NSPersistentContainer(name: "Groceries")
container.loadPersistentStores { description, error in
    if let error { fatalError("\(description): \(error)") }
}
try await container.performBackgroundTask { context in
    let item = Item(context: context)
    item.name = "Milk"
    try context.save()  // INSERT INTO ZITEM …
    let request = Item.fetchRequest()
    request.predicate = NSPredicate(format: "name BEGINSWITH %@", "M")
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Item.name, ascending: true)]
    print(try context.fetch(request).compactMap(\.name))  // SELECT … FROM ZITEM t0 WHERE … ORDER BY t0.ZNAME
}
