"""The process that draws: VTK in a hidden window of an X server in memory. `eipc.viz.painter` starts it; nothing here imports eipc."""
