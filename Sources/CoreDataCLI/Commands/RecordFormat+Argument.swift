import ArgumentParser
import CoreDataToolkit

extension RecordFormat: ExpressibleByArgument {}
